import type { Armed, RolledBack } from '../../facts/armed.ts'
import { holderOf } from '../../facts/holder.ts'
import type { SelfFacts } from '../../facts/state.ts'
import { agentUnit } from './names.ts'

/** `the rollback of the upgrade to v2 that run r1 by ada armed fires in 12 s` */
export const armedWords = ({ phase, what, run, operator, firesAtS }: Armed, uptimeS: number): string => {
  const of = `the rollback of the ${what || 'change'} that ${whose({ run, operator })} armed`
  if (phase === 'undoing') return `${of} is being carried out`
  const leftS = Math.round(firesAtS - uptimeS)
  return `${of} ${leftS > 0 ? `fires in ${leftS} s` : 'is due'}`
}

/** `the upgrade to v2 of run r1 by ada was rolled back at ..., since nobody had confirmed it` */
export const rolledBackWords = ({ what, run, operator, at, how }: RolledBack): string => {
  const of = `the ${what || 'change'} of ${whose({ run, operator })}`
  if (how === 'rolled-back-not-up')
    return `the files of ${of} were put back at ${at}, but the agent does not stay up with them; nothing is armed any more`
  if (how === 'rolled-back') return `${of} was rolled back at ${at}: the host is back on what it ran before`
  const why = how === 'superseded-by-move' ? 'the agent had moved its files' : 'somebody else had changed it'
  return `${of} was to be rolled back at ${at}, and nothing was undone, since ${why}`
}

/** What to do about one that another run armed. Where that run may still be at work, it is the one to decide. */
export const armedRemedy = (armed: Armed, self: SelfFacts, name: string): string => {
  if (armed.phase === 'undoing') return undoingRemedy(name)
  const ways = `drover confirm -l ${name} keeps what it guards, drover rollback --now -l ${name} undoes it at once. Or wait, then run again.`
  const isAtWork = holderOf(self) !== null && (self.applying !== null || self.lease?.run === armed.run)
  return isAtWork
    ? `That run was heard of a moment ago and may still be at work: wait for it first. Otherwise ${ways}`
    : ways
}

/** What to do about a rollback that is being carried out: each of its ends is one that the host comes to by itself. */
export const undoingRemedy = (name: string): string =>
  `Wait: it ends by itself, and where the agent does not come up again after some attempts, with the files put back; only what cannot be put back is tried for as long as it takes (journalctl -u drover-rollback.service). drover rollback --now -l ${name} tries at once and waits for the end. Then run again.`

/** What is left to do where the agent does not stay up even with the files it had before. */
export const notUpRemedy = (name: string): string =>
  `See journalctl -u ${agentUnit} on ${name} for what keeps it down. Then upgrade to a release that is known to be good.`

const whose = ({ run, operator }: { run: string; operator: string }): string =>
  `run ${run || '(unknown)'}${operator === '' ? '' : ` by ${operator}`}`
