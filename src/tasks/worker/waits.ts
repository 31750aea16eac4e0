import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import type { HostView } from '../../facts/view.ts'
import type { Worker } from '../agent/workers.ts'

/** A duration parameter in seconds, at most an hour. */
export const seconds = (fallback: number) => z.number().min(0).max(3600).default(fallback)

export interface WaitLimits {
  readonly stableMs: number
  readonly withinMs: number
  readonly failure: NonNullable<Change['failure']>
}

/** Up and staying up; for a real nspawn machine also known to machinectl as running (domain.md 5.3). */
export const workerAwaits = (view: HostView, worker: Worker, { stableMs, withinMs, failure }: WaitLimits): Change[] => {
  const wait = { kind: 'await', withinMs: withinMs + stableMs, failure } as const
  return [
    { ...wait, condition: { unit: worker.unit, is: 'active' }, stableMs },
    ...(runsNspawn(view, worker)
      ? [{ ...wait, condition: { machine: worker.machine, is: 'running' }, stableMs: 0 } as const]
      : []),
  ]
}

const runsNspawn = (view: HostView, worker: Worker): boolean =>
  view.unit(worker.unit).get('ExecStart').includes('systemd-nspawn')
