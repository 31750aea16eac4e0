import { z } from 'zod'
import type { ErrorDetails } from '../errors.ts'
import type { HostView } from '../facts/view.ts'
import { lockRefusal } from './agent/activation-lock.ts'
import { warning } from './agent/finding.ts'
import { hostRootRow } from './agent/host-root.ts'
import { agentUnit } from './agent/names.ts'
import { LEGACY, ROOT } from './agent/paths.ts'
import { moveFacts } from './move/facts.ts'
import { strangeFile } from './move/files.ts'
import { firstPass, restOfFirstPass } from './move/first-pass.ts'
import { bothKnow } from './move/knowledge.ts'
import { limitsShape, stopAtShape } from './move/limits.ts'
import { isDone, type Movable, readMovable } from './move/movable.ts'
import { placeRefusal } from './move/places.ts'
import { linkedAgain, withoutCopy } from './move/put-back.ts'
import { isUnfitAtRoot, unfitStaged } from './move/unfit.ts'
import { unitNames } from './move/units.ts'
import { isStopped } from './switch/restart.ts'
import { beingStopped, disturbance } from './switch/undisturbed.ts'
import { blocked, type Finding, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({
  ...stopAtShape,
  host_root_since: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'First version that knows the host root, as hostRootSince of a release; needed unless the agent has noted the digests of both of its binaries',
    ),
  ...limitsShape,
})

type Params = z.output<typeof params>

/** The first of the two passes of a move (domain.md 6.3). Nothing of the old root is removed by it. */
export const hostRootMoved: Task<Params> = {
  name: 'host-root-moved',
  summary:
    'A whole copy of the agent lies at its new root, was seen to run, is what every unit names, and is what runs; otherwise the host is linked as before.',
  params,
  putsBack: true,
  example: `name: move
description: Bring the agent to its new root
steps:
  - task: host-root-linked
  - task: host-root-moved
    with: { host_root_since: v0.3.0 }
`,
  facts: () => moveFacts(),
  plan: (view, wanted): Planned => {
    if (wanted.stop_at === 'link' || isDone(view)) return satisfied()
    const movable = readMovable(view)
    if ('code' in movable) return blocked(movable)
    switch (hostRootRow(movable.hostRoot).migrate) {
      case 'move':
        return move(view, movable, wanted)
      case 'restart':
        return goOn(view, movable, wanted)
      case 'link':
        return blocked(notLinked(movable))
      default:
        return satisfied()
    }
  },
}

const move = (view: HostView, movable: Movable, wanted: Params): Planned => {
  const unfit = movable.hostRoot === 'STAGING' ? unfitStaged(view) : null
  if (unfit !== null) return withoutCopy(view, unfit)
  const refusal =
    disturbance(view, movable) ??
    bothKnow(view, movable, wanted.host_root_since) ??
    placeRefusal(view) ??
    strangeFile(view, LEGACY)
  if (refusal !== null) return blocked(refusal)
  const changes = firstPass(view, movable, wanted)
  return 'code' in changes ? blocked(changes) : planned(changes, bothPassesAreOurs(movable))
}

/** The copy is in its place, and the agent has not been started from there yet. */
const goOn = (view: HostView, movable: Movable, wanted: Params): Planned => {
  if (isUnfitAtRoot(view)) return linkedAgain(view, movable, wanted)
  if (isStopped(movable) && unitNames(view, movable, ROOT)) return satisfied(bothPassesAreOurs(movable))
  const refusal = beingStopped(movable.service) ?? lockRefusal(view)
  if (refusal !== null) return blocked(refusal)
  const changes = restOfFirstPass(view, movable, wanted)
  return 'code' in changes ? blocked(changes) : planned(changes, bothPassesAreOurs(movable))
}

const notLinked = ({ hostRoot }: Movable): ErrorDetails => ({
  code: 'move-not-ready',
  message: `${ROOT} is not linked to ${LEGACY} yet (${hostRoot}), and a move begins there.`,
  remedy: 'Put the task host-root-linked before this one, as the playbook migrate does.',
})

/** U5: it stays stopped, so there is no start of it to wait for. */
const bothPassesAreOurs = (movable: Movable): Finding[] =>
  isStopped(movable)
    ? [
        {
          ...warning({
            check: 'moved-while-stopped',
            target: agentUnit,
            message:
              'the agent is stopped, and stays stopped: drover makes both passes of the move, and the agent was not seen to run from there',
            remedy: `If it is to run: systemctl start ${agentUnit}, then drover status.`,
          }),
          lasting: true,
        },
      ]
    : []
