import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { architectureOf, type Binary, type Release } from '../../release/release.ts'

/** The binary of a release that this host can run. */
export const binaryFor = (view: HostView, release: Release): Binary | ErrorDetails => {
  const { architecture } = view.os
  const wanted = architectureOf(architecture)
  const binary = wanted === undefined ? undefined : release.binaries?.[wanted]
  if (binary !== undefined) return binary
  return {
    code: 'precondition-unmet',
    message:
      wanted === undefined
        ? `The host is a ${architecture}, and no release of the agent is built for that.`
        : `The host is a ${architecture}, and the release ${release.version} has no binary for ${wanted}.`,
    remedy:
      wanted === undefined
        ? 'Leave the host out with --limit.'
        : `Add ${wanted} to the release, with a file or url and its sha256; or leave the host out with --limit.`,
  }
}
