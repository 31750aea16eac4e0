import { z } from 'zod'
import type { HostView } from '../facts/view.ts'
import { lockRefusal } from './agent/activation-lock.ts'
import { hostRootRow } from './agent/host-root.ts'
import { ROOT } from './agent/paths.ts'
import { moveFacts } from './move/facts.ts'
import { limitsShape, stopAtShape } from './move/limits.ts'
import { isDone, isWhole, type Movable, readMovable } from './move/movable.ts'
import { leftBehind, secondPass } from './move/second-pass.ts'
import { notFromRoot, notWhole } from './move/stuck.ts'
import { unitNames } from './move/units.ts'
import { isStopped } from './switch/restart.ts'
import { beingStopped } from './switch/undisturbed.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({ ...stopAtShape, ...limitsShape })

/** The second pass (domain.md 6.4), where the agent has not made it by itself. */
export const hostRootSettled: Task<z.output<typeof params>> = {
  name: 'host-root-settled',
  summary: 'The move of the agent to its new root is over: nothing of it is left at the old one, and its mark is gone.',
  params,
  example: `name: settle
description: Finish a move of the agent that does not come to its end by itself
steps:
  - task: host-root-settled
`,
  facts: () => moveFacts(),
  plan: (view, wanted): Planned => {
    if (wanted.stop_at === 'link' || isDone(view)) return satisfied()
    const movable = readMovable(view)
    if ('code' in movable) return blocked(movable)
    const { migrate } = hostRootRow(movable.hostRoot)
    if (migrate !== 'finish' && migrate !== 'restart') return satisfied()
    const refusal = beingStopped(movable.service) ?? lockRefusal(view) ?? (isWhole(view, ROOT) ? null : notWhole)
    if (refusal !== null) return blocked(refusal)
    if (migrate === 'restart' && !isOurs(view, movable)) return blocked(notFromRoot(view, movable))
    const changes = secondPass(view, movable, wanted)
    return 'code' in changes ? blocked(changes) : planned(changes, leftBehind(view))
  },
}

/** U5: an agent that was stopped makes no pass, and runs nothing that would go. */
const isOurs = (view: HostView, movable: Movable): boolean => isStopped(movable) && unitNames(view, movable, ROOT)
