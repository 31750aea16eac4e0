import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { compareVersions } from '../../release/version.ts'
import type { HostRootState } from '../agent/host-root.ts'
import { hostRootAgents, ROOT } from '../agent/paths.ts'

/** A binary that may be made current. */
export interface Binary {
  /** Null where it says none. */
  readonly version: string | null
  /** The first version that knows the host root (U9). */
  readonly hostRootSince: string | undefined
  readonly sha256: string
}

export type Knowledge = 'knows' | 'older' | 'unknown'

export const knowledgeFacts = (): Fact[] => [{ kind: 'path', path: hostRootAgents, content: 65_536 }]

/** Whether a binary knows the host root: the host has seen it do so, or its version says so. It is never guessed (U9). */
export const knowledgeOf = (view: HostView, { version, hostRootSince, sha256 }: Binary): Knowledge => {
  if ((view.text(hostRootAgents) ?? '').split(/\s+/).includes(sha256)) return 'knows'
  if (version === null || hostRootSince === undefined) return 'unknown'
  if (version === hostRootSince) return 'knows'
  const compared = compareVersions(version, hostRootSince)
  return compared === null ? 'unknown' : compared < 0 ? 'older' : 'knows'
}

/**
 * Rules U8 and U9. On a moved host a binary that does not know the host root finds none of its files, and builds a
 * second installation; on a linked one it runs, since all old paths are intact (domain.md 7.5).
 */
export const downgradeRefusal = (
  state: HostRootState,
  knowledge: Knowledge,
  { version, hostRootSince }: Binary,
  isAllowed: boolean,
): ErrorDetails | null => {
  if (isAllowed || knowledge === 'knows') return null
  if (state !== 'MOVED' && state !== 'LINKED') return null
  const name = version ?? 'a binary without a version'
  if (knowledge === 'older') {
    if (state === 'LINKED') return null
    return {
      code: 'downgrade-refused',
      message: `${name} is older than ${hostRootSince ?? 'the host root'}, the first version that knows ${ROOT}, and this host's agent lives there: it would find none of its files.`,
      remedy:
        'Take a release that knows the host root. To let it fail and come back on purpose: --allow-host-root-downgrade.',
    }
  }
  const why =
    hostRootSince === undefined
      ? 'the release does not say since which version agents know it (hostRootSince)'
      : `${name} and ${hostRootSince} cannot be compared`
  return {
    code: 'downgrade-refused',
    message: `Whether ${name} knows the host root ${ROOT}, which this host has (${state}), cannot be said: ${why}.`,
    remedy:
      'Set hostRootSince of the release; for a build without a number to its own version, if it is known to know it. Or, knowing what it means: --allow-host-root-downgrade.',
  }
}
