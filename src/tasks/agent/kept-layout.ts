import type { HostRootState } from './host-root.ts'

const uninstall =
  'drover run uninstall removes both installations (with --yes-remove-everything); then drover run install.'
const unlink = 'drover run unlink removes the copy; then drover run install finds the layout.'

/**
 * What to do with files that were on their way between the roots when their agent was reset: no agent goes on with such a
 * move, and nothing can be installed onto it. Null where an install finds what it needs.
 */
export const wayOutOf = (state: HostRootState): string | null => {
  switch (state) {
    case 'CONFLICT':
    case 'MOVING-1':
    case 'MOVING-2':
      return uninstall
    case 'STAGING':
    case 'SWAP-GAP':
      return unlink
    default:
      return null
  }
}
