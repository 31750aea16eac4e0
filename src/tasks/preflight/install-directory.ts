import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { fine } from '../agent/finding.ts'
import { LEGACY, ROOT } from '../agent/paths.ts'
import { isVisible } from '../agent/visible.ts'
import { type Check, faultUnlessDeployed } from './check.ts'

const check = 'install-directory-noexec'
const legacyBin = `${LEGACY}/bin`
const rootBin = `${ROOT}/bin`

export const installDirectoryFacts = (): Fact[] => [
  { kind: 'path', path: ROOT },
  { kind: 'mount', path: legacyBin },
  { kind: 'mount', path: rootBin },
]

/** Where an installation would go (domain.md 9.1): a real ROOT, else a writable /usr/local, else ROOT after all. */
export const installDirectory = (view: HostView): string => {
  if (isVisible(view, ROOT) && view.node(ROOT).type === 'directory') return rootBin
  return view.mount(legacyBin).readOnly ? rootBin : legacyBin
}

export const installDirectoryExecutable: Check = {
  name: check,
  facts: installDirectoryFacts,
  evaluate: (view, context) => {
    const target = installDirectory(view)
    const mount = view.mount(target)
    if (!mount.noexec) return [fine({ check, target, message: 'programs can run from the install directory' })]
    const seen = {
      check,
      target,
      message: `the install directory lies on a noexec file system, mounted at ${mount.mountPoint}`,
      remedy: `Mount ${mount.mountPoint} without noexec.`,
    }
    return [faultUnlessDeployed(context, seen)]
  },
}
