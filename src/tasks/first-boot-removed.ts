import { z } from 'zod'
import type { Change } from '../changes/change.ts'
import type { Fact } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { bootstrapUnit } from './agent/names.ts'
import { unitFileOf } from './reset/belongings.ts'
import { resetFacts } from './reset/facts.ts'
import { hostRefusal } from './reset/possible.ts'
import { readOnlyRefusal, removalOf } from './reset/removal.ts'
import { disableOf, isMask, stopOf } from './reset/stopped.ts'
import { blocked, type Planned, planned, type Task } from './task.ts'

const params = z.strictObject({})

/** The first thing of a reset (domain.md 8.1): while it is there, a boot would install the agent anew. */
export const firstBootRemoved: Task<z.output<typeof params>> = {
  name: 'first-boot-removed',
  summary: `The unit that installs the agent at first boot is disabled, stopped and gone, so that nothing installs it again.`,
  params,
  example: `name: no-first-boot
description: Nothing installs the agent by itself any more
steps:
  - task: first-boot-removed
`,
  facts: (): Fact[] => resetFacts(),
  plan: (view): Planned => {
    const refusal = hostRefusal(view)
    if (refusal !== null) return blocked(refusal)
    const changes = removal(view)
    const stuck = readOnlyRefusal(view, changes)
    return stuck === null ? planned(changes) : blocked(stuck)
  },
}

/** Stopped as well: it stays active after it has run, and one that is active could not be started again later. */
const removal = (view: HostView): Change[] => {
  const file = unitFileOf(bootstrapUnit)
  if (isMask(view.node(file))) return []
  const disabled = disableOf(view, bootstrapUnit)
  const removed = removalOf(view, file)
  const isLoadedAnew = [...disabled, ...removed].some(({ kind }) => kind === 'remove')
  return [
    ...stopOf(view, bootstrapUnit),
    ...disabled,
    ...removed,
    ...(isLoadedAnew ? [{ kind: 'systemctl', verb: 'daemon-reload' } as const] : []),
  ]
}
