import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import type { Release } from '../../release/release.ts'
import { type HostRoot, ROOT } from '../agent/paths.ts'
import { downgradeRefusal, knowledgeOf } from '../switch/host-root-knowledge.ts'
import { readRootState } from './root.ts'

/** Rule U9, for the root that the agent is to be put into: there is none before whose agent could be gone back to. */
export const knowledgeRefusal = (
  view: HostView,
  root: HostRoot,
  release: Release,
  sha256: string,
): ErrorDetails | null => {
  const { version, hostRootSince } = release
  const binary = { version, hostRootSince, sha256 }
  const knowledge = knowledgeOf(view, binary)
  const state = root === ROOT ? 'MOVED' : readRootState(view)
  if (downgradeRefusal(state, knowledge, binary, false) === null) return null
  const where =
    root === ROOT ? `The agent would have to go to ${ROOT}` : `${ROOT} is a link to the place of the agent's files`
  if (knowledge === 'older')
    return {
      code: 'downgrade-refused',
      message: `${where}, and ${version} is older than ${hostRootSince ?? 'the host root'}, the first version that finds its files there.`,
      remedy: 'Take a release that knows the host root, or make /usr/local writable.',
    }
  const why =
    hostRootSince === undefined
      ? 'the release does not say since which version agents do (hostRootSince)'
      : `${version} and ${hostRootSince} cannot be compared`
  return {
    code: 'downgrade-refused',
    message: `${where}, and whether ${version} knows that root cannot be said: ${why}.`,
    remedy:
      'Set hostRootSince of the release; for a build without a number to its own version, if it is known to know it.',
  }
}
