import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { slots } from '../agent/layout.ts'
import { LEGACY, layoutEntry, ROOT } from '../agent/paths.ts'
import { versionFacts, versionOf } from '../agent/version.ts'
import { knowledgeFacts, knowledgeOf } from '../switch/host-root-knowledge.ts'
import type { Movable } from './movable.ts'

export const bothKnowFacts = (): Fact[] => [
  ...knowledgeFacts(),
  ...versionFacts('current'),
  ...versionFacts('last-good'),
]

/**
 * Rule U9: neither what runs nor what a recovery would bring back may be a binary that looks for its files under
 * /usr/local alone. The digest of one that has run here and knows the root is proof, and so is its version.
 */
export const bothKnow = (view: HostView, { layout }: Movable, since: string | null): ErrorDetails | null => {
  if (layout.lastGood === null) return noLastGood
  for (const [link, slot] of [
    ['current', layout.current],
    ['last-good', layout.lastGood],
  ] as const) {
    const version = versionOf(view, LEGACY, link)
    const sha256 = view.sha256(layoutEntry(LEGACY, slot)) ?? ''
    const knowledge = knowledgeOf(view, { version, hostRootSince: since ?? undefined, sha256 })
    if (knowledge === 'older') return older(link, version ?? '', since ?? '')
    if (knowledge === 'unknown') return unknown(link, version, since)
  }
  return null
}

const noLastGood: ErrorDetails = {
  code: 'move-not-ready',
  message: `${layoutEntry(LEGACY, 'last-good')} leads to neither of the ${slots.length} binaries, so the agent could not be recovered after a move.`,
  remedy: 'Upgrade to another release that knows the new root: that points last-good at what runs now.',
}

const older = (link: string, version: string, since: string): ErrorDetails => ({
  code: 'move-not-ready',
  message: `${link} is ${version}, older than ${since}, the first version that knows ${ROOT}: it would not find its files there.`,
  remedy:
    'Upgrade until both the running binary and last-good know it: two upgrades from such a release. To link only, which older releases bear: --stop-at link.',
})

const unknown = (link: string, version: string | null, since: string | null): ErrorDetails => ({
  code: 'move-not-ready',
  message: `Whether ${link} (${version ?? 'it says no version'}) knows ${ROOT} cannot be said: ${
    since === null
      ? 'nobody has said since which version agents do'
      : `${version === null ? 'a binary without a version' : version} and ${since} cannot be compared`
  }, and the agent has not noted its digest.`,
  remedy:
    'Give the first version that knows it: -e host_root_since=v0.3.0, say; for a build without a number its own version, if it is known to know it. To link only: --stop-at link.',
})
