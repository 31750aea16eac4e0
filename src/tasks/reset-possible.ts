import { z } from 'zod'
import type { Fact } from '../facts/fact.ts'
import { resetFacts } from './reset/facts.ts'
import { goesFinding } from './reset/goes.ts'
import { ownResetShape, resetRefusal } from './reset/possible.ts'
import { blocked, type Planned, satisfied, type Task } from './task.ts'

const params = z.strictObject(ownResetShape)

/** Asked before the first step that changes anything: a host must not be left with a stopped agent for what a later one refuses. */
export const resetPossible: Task<z.output<typeof params>> = {
  name: 'reset-possible',
  summary:
    'Nothing stands against a reset: root rights, no activation under way, no mount in what goes, no network interface of yours that would go.',
  params,
  isCheck: true,
  example: `name: may-be-reset
description: Could this host be reset?
steps:
  - task: reset-possible
    with: { allow_interface: [wg-agent] }
`,
  facts: (): Fact[] => resetFacts(),
  plan: (view, choice): Planned => {
    const refusal = resetRefusal(view, choice)
    return refusal === null ? satisfied(goesFinding(view)) : blocked(refusal)
  },
}
