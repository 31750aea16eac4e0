import type { HalfMoved } from './half-moved.ts'
import type { HostRootState } from './host-root.ts'
import type { LinkedBecause } from './linked.ts'
import type { Variant } from './service.ts'

/** All that decides on a host's verdict, as plain data. */
export interface StatusSigns {
  readonly systemd: boolean
  /** Another run of drover holds the host. */
  readonly busy: boolean
  readonly rollback: 'armed' | 'undoing' | 'rolled-back' | null
  /** A cut run left a reload or restart undone. */
  readonly owed: boolean
  readonly installed: boolean
  readonly variant: Variant
  readonly agent: 'active' | 'failed' | 'down'
  readonly agentEnabled: boolean
  readonly containerdActive: boolean
  readonly hostRoot: HostRootState
  /** A move between the roots that was begun and is not over. */
  readonly move: HalfMoved['how'] | null
  readonly linked: LinkedBecause | null
  readonly target: 'active' | 'inactive' | 'masked' | 'missing'
  readonly targetEnabled: boolean
  /** The agent's unit pulls the target in, now and at the next boot (W1). */
  readonly wired: boolean
  /** daemon-state.json, which names the active side; `unseen` without root. */
  readonly state: 'ok' | 'damaged' | 'unseen'
  readonly worker: 'active' | 'starting' | 'down'
  readonly workerEnabled: boolean
  readonly workerMasked: boolean
}

const isWithoutAgent = (state: HostRootState): boolean => ['ABSENT', 'EMPTY-ROOT', 'LINK-ORPHAN'].includes(state)

interface Row {
  readonly verdict: string
  readonly when: (signs: StatusSigns) => boolean
  /** The playbook that would put it right. */
  readonly fix: 'remediate' | 'machines-target' | 'migrate' | null
}

/**
 * The first row that holds is the verdict: what hides the rest comes first, then what keeps the node down,
 * then what will at the next boot. An inactive target beside a running worker is no fault by itself:
 * remediate starts the worker alone (W3), and the target follows at the next boot.
 */
const table = [
  { verdict: 'no-systemd', when: (s) => !s.systemd, fix: null },
  { verdict: 'locked', when: (s) => s.busy, fix: null },
  { verdict: 'rolling-back', when: (s) => s.rollback === 'undoing', fix: null },
  { verdict: 'no-agent', when: (s) => !s.installed, fix: null },
  { verdict: 'target-masked', when: (s) => s.target === 'masked', fix: null },
  { verdict: 'target-missing', when: (s) => s.target === 'missing', fix: null },
  {
    verdict: 'containerd-failed',
    when: (s) => s.variant === 'container' && s.agent !== 'active' && !s.containerdActive,
    fix: null,
  },
  { verdict: 'state-unreadable', when: (s) => s.state === 'damaged', fix: null },
  { verdict: 'worker-masked', when: (s) => s.state === 'ok' && s.workerMasked && s.worker !== 'active', fix: null },
  { verdict: 'stuck', when: (s) => s.state === 'ok' && s.workerEnabled && s.worker === 'down', fix: 'remediate' },
  { verdict: 'root-conflict', when: (s) => s.hostRoot === 'CONFLICT' || s.hostRoot === 'BLOCKED', fix: null },
  { verdict: 'move-stuck', when: (s) => s.move === 'stuck', fix: 'migrate' },
  // The process may still run a file that has been removed since: no start of it will come out well.
  { verdict: 'agent-lost', when: (s) => s.variant === 'host' && isWithoutAgent(s.hostRoot), fix: null },
  { verdict: 'agent-failed', when: (s) => s.agent === 'failed', fix: null },
  // A move restarts the agent, so that it is down for a moment then is no fault.
  { verdict: 'moving', when: (s) => s.move === 'going', fix: null },
  { verdict: 'agent-down', when: (s) => s.agent !== 'active', fix: null },
  { verdict: 'state-unreadable', when: (s) => s.state === 'unseen', fix: null },
  { verdict: 'worker-stopped', when: (s) => !s.workerEnabled && s.worker === 'down', fix: null },
  { verdict: 'worker-starting', when: (s) => s.worker !== 'active', fix: null },
  { verdict: 'worker-disabled', when: (s) => !s.workerEnabled || s.workerMasked, fix: null },
  { verdict: 'move-cut', when: (s) => s.move === 'cut', fix: 'migrate' },
  { verdict: 'not-wired', when: (s) => !s.wired && !s.targetEnabled, fix: 'machines-target' },
  { verdict: 'agent-disabled', when: (s) => !s.agentEnabled, fix: null },
  { verdict: 'unfinished', when: (s) => s.owed, fix: null },
  { verdict: 'unconfirmed', when: (s) => s.rollback === 'armed', fix: null },
] as const satisfies readonly Row[]

/** What is left when no row holds. A host that may move and has not is healthy; it only could be brought further. */
const healthy = { verdict: 'healthy', fix: null } as const
const healthyFix = (signs: StatusSigns): Row['fix'] => (signs.linked === 'ready' ? 'migrate' : null)

export type Verdict = (typeof table)[number]['verdict'] | 'healthy'
export const verdicts: readonly Verdict[] = [...new Set([...table, healthy].map((row) => row.verdict))]

export const verdictOf = (signs: StatusSigns): { readonly verdict: Verdict; readonly fix: Row['fix'] } => {
  const row = table.find(({ when }) => when(signs))
  return row === undefined
    ? { verdict: healthy.verdict, fix: healthyFix(signs) }
    : { verdict: row.verdict, fix: row.fix }
}
