import { armedOf } from '../../facts/armed.ts'
import type { HostStatus } from './assess.ts'
import { moveReason, rootWords } from './root-words.ts'
import type { Verdict } from './verdict.ts'

/** A verdict in a few words, with what was seen. */
export const explain = (verdict: Verdict, status: Seen): string => words[verdict](status)

type Seen = Omit<HostStatus, 'verdict' | 'explanation' | 'remedy' | 'fix'>
type Words = (status: Seen) => string

const words: Readonly<Record<Verdict, Words>> = {
  'no-systemd': (s) => `systemd does not answer: ${s.systemdError ?? 'no reason given'}`,
  locked: (s) =>
    `held by ${s.self.applying ?? (s.self.lease === null ? 'another run' : `${s.self.lease.owner}, run ${s.self.lease.run}`)}`,
  'rolling-back': () => 'a rollback is under way',
  'no-agent': () => 'no agent is installed',
  'target-masked': () => 'machines.target is masked, so no worker starts at boot; drover never unmasks it',
  'target-missing': () => 'machines.target is missing: systemd-container is not installed',
  'containerd-failed': () => 'containerd does not run, so the agent was not started',
  'state-unreadable': (s) => s.stateError ?? 'which worker is active only root may read',
  'worker-masked': (s) => `${s.worker?.unit ?? 'the worker'} is masked`,
  stuck: (s) =>
    `${s.worker?.unit ?? 'the worker'} is enabled and ${s.worker?.state ?? 'down'}; machines.target is ${s.target?.state ?? 'unknown'}`,
  'root-conflict': (s) => rootWords(s.hostRoot),
  'agent-lost': (s) => `the agent's unit is there, and no agent that it could start (${s.hostRoot})`,
  'agent-failed': (s) => `the agent's unit failed: ${s.agent.result ?? 'no result'}`,
  'agent-down': (s) => `the agent's unit is ${s.agent.state ?? 'unknown'} (${s.agent.subState ?? 'unknown'})`,
  'move-stuck': (s) =>
    `${rootWords(s.hostRoot)} That has been so for ${minutes(s.move?.ageS)}${restarts(s.move?.restarts)}, and the agent takes no work meanwhile; ${moveReason(s.move)}`,
  moving: (s) => `the agent moves to its new root, since ${s.move?.ageS ?? 0} s: ${rootWords(s.hostRoot)}`,
  'move-cut': (s) => {
    const why = s.move?.reason ?? null
    return `${rootWords(s.hostRoot)}${why === null ? '' : ` It said: ${why}`}`
  },
  'worker-stopped': (s) => `${s.worker?.unit ?? 'the worker'} is disabled and stopped, as on purpose`,
  'worker-starting': (s) => `${s.worker?.unit ?? 'the worker'} is ${s.worker?.state ?? 'starting'}`,
  'worker-disabled': (s) => `${s.worker?.unit ?? 'the worker'} runs, but no boot would start it`,
  'not-wired': () => 'all runs, but the next boot would not start machines.target',
  'agent-disabled': () => 'all runs, but the next boot would not start the agent',
  unfinished: (s) => `a cut run still owes: ${s.self.owed.join(', ')}`,
  unconfirmed: (s) => {
    const armed = armedOf(s.self)
    return `a rollback is armed and waits to be confirmed: the ${armed?.what || 'change'} of run ${armed?.run || '(unknown)'}`
  },
  healthy: (s) =>
    s.target?.state === 'active'
      ? 'agent and worker run'
      : 'agent and worker run; machines.target follows at the next boot',
}

const minutes = (ageS: number | null | undefined): string =>
  typeof ageS === 'number'
    ? `${Math.floor(ageS / 60)} minutes`
    : 'nobody knows how long (its mark has no date that can be)'
const restarts = (count = 0): string => (count > 0 ? `, in which systemd started the agent again ${count} times` : '')
