import { z } from 'zod'
import type { HostView } from '../facts/view.ts'
import { readHalfMoved } from './agent/half-moved.ts'
import { type HostRootState, hostRootRow, hostRootState } from './agent/host-root.ts'
import { hostRootSigns } from './agent/host-root-signs.ts'
import { hostRootAgents, LEGACY, movingMark, ROOT } from './agent/paths.ts'
import { readService } from './agent/service.ts'
import { moveFacts } from './move/facts.ts'
import { stopAtShape } from './move/limits.ts'
import { writtenByMove } from './move/restart.ts'
import { writtenBelow } from './switch/restart.ts'
import { type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({
  ...stopAtShape,
  second_pass_within_s: z
    .number()
    .min(0)
    .max(3600)
    .default(180)
    .describe('Seconds, from the beginning of the move, that an agent which runs has to finish it by itself'),
})

/** A whole second is lost between two clocks that count them. */
const roundingS = 2

/** Rule M5: the agent makes the second pass at its start, and drover keeps out of its way. */
export const hostRootAwaited: Task<z.output<typeof params>> = {
  name: 'host-root-awaited',
  summary: 'An agent on its way to the new root has had the time it needs to finish its move by itself.',
  params,
  example: `name: await-move
description: Let the agent finish its move
steps:
  - task: host-root-awaited
    with: { second_pass_within_s: 180 }
`,
  facts: () => moveFacts(),
  plan: (view, { stop_at, second_pass_within_s }): Planned => {
    if (stop_at === 'link' || !view.systemd.ok) return satisfied()
    const state = hostRootState(hostRootSigns(view))
    const isMoving = hostRootRow(state).when.moving === true
    const service = isMoving ? readService(view) : null
    if (service === null || ['inactive', 'failed'].includes(service.activeState)) return satisfied()
    const restS = second_pass_within_s - ageOf(view, state, second_pass_within_s)
    if (restS <= 0) return satisfied()
    return planned([
      {
        kind: 'await',
        condition: { path: movingMark, is: 'gone' },
        withinMs: (restS + roundingS) * 1000,
        stableMs: 0,
        orGoOn: true,
        spoils: [
          ...new Set([...writtenBelow(ROOT), ...writtenBelow(LEGACY), ...writtenByMove, `path:${hostRootAgents}`]),
        ],
      },
    ])
  },
}

/** A mark of later than now is of a clock that was set back since: it stays young for ever, and is taken for old. */
const ageOf = (view: HostView, state: HostRootState, old: number): number => {
  const ageS = readHalfMoved(view, state)?.ageS ?? old
  return ageS < -roundingS ? old : Math.max(0, ageS)
}
