import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView, UnitView } from '../../facts/view.ts'
import { agentUnit, machinesTarget, workerUnits } from '../agent/names.ts'
import { membersFacts } from '../agent/workers.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'
import { afterStartLimit } from '../worker/start-room.ts'
import { unitParam } from './unit-param.ts'
import { dependencyRefusal, startRefusal } from './unit-refusals.ts'

const params = z
  .strictObject({
    unit: unitParam.describe('Full name of the unit'),
    running: z.boolean().default(true).describe('false: it is stopped'),
    stable_s: z.number().min(0).max(3600).default(0).describe('After a start: seconds it must stay up without a break'),
    within_s: z
      .number()
      .min(0)
      .max(3600)
      .default(90)
      .describe('After a start: seconds the host waits for it to come up; stable_s comes on top'),
  })
  .superRefine(({ unit, running }, context) => {
    const message = reserved(unit, running)
    if (message !== null) context.addIssue({ code: 'custom', path: ['unit'], message })
  })

type Params = z.infer<typeof params>

/** Rule W3: a start of the target starts every enabled machine, a stop ends every worker. */
const reserved = (unit: string, running: boolean): string | null => {
  if (unit === machinesTarget) {
    const effect = running ? 'starts every machine that is enabled' : 'ends every worker'
    return `${running ? 'Starting' : 'Stopping'} ${machinesTarget} ${effect}, so this task does not.\nUse worker-running, which starts the one worker of the active side.`
  }
  if (running && workerUnits.includes(unit)) {
    return `Whether ${unit} is the worker of the active side, this task cannot know.\nUse worker-running, which starts that one and no other.`
  }
  return unit.startsWith('drover-') ? "The units drover-* are drover's own tools.\nName another unit." : null
}

export const unitRunning: Task<Params> = {
  name: 'unit-running',
  summary: 'A systemd unit is active, and after a start stays so; or it is stopped.',
  params,
  example: `name: clock
description: The clock of every host is kept
steps:
  - task: unit-running
    with: { unit: chronyd.service, stable_s: 5 }
`,
  facts: ({ unit, running }): Fact[] => [
    { kind: 'unit', name: unit },
    ...(running
      ? [
          ...membersFacts(),
          { kind: 'unit', name: agentUnit } as const,
          ...workerUnits.map((name): Fact => ({ kind: 'unit', name })),
        ]
      : []),
  ],
  plan: (view, { unit: name, running, stable_s, within_s }): Planned => {
    const unit = view.unit(name)
    if (!running)
      return isUp(unit) || isOnItsWay(unit) ? planned([{ kind: 'systemctl', verb: 'stop', unit: name }]) : satisfied()
    if (isUp(unit)) return satisfied()
    const refusal = startRefusal(unit) ?? dependencyRefusal(view, unit)
    if (refusal !== null) return blocked(refusal)
    const wait = { withinMs: (within_s + stable_s) * 1000, stableMs: stable_s * 1000 }
    return planned([
      ...afterStartLimit(view, name),
      { kind: 'systemctl', verb: 'start', unit: name },
      { kind: 'await', condition: { unit: name, is: 'active' }, ...wait, ...oneshotHint(view, name) },
    ])
  },
}

/** A unit that reloads its configuration runs all the while. */
const isUp = (unit: UnitView): boolean => ['active', 'reloading', 'refreshing'].includes(unit.get('ActiveState'))
const isOnItsWay = (unit: UnitView): boolean => ['activating', 'deactivating'].includes(unit.get('ActiveState'))

const oneshotHint = (view: HostView, name: string): Pick<Change, 'failure'> =>
  view.unit(name).get('Type') === 'oneshot'
    ? {
        failure: {
          code: 'precondition-unmet',
          message: `${name} was started, and is not active after it.`,
          remedy: `It is of Type=oneshot: without RemainAfterExit=yes it never stays active. Add that, or run it by the task command. If it failed: journalctl -u ${name}.`,
        },
      }
    : {}
