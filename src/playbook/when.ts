import type { Fact } from '../facts/fact.ts'
import type { UnitProperty } from '../facts/unit.ts'
import type { HostView } from '../facts/view.ts'
import type { Host } from '../inventory/host.ts'
import { readService, serviceFacts } from '../tasks/agent/service.ts'
import type { FactCondition, When } from './playbook.ts'

/** What must be read of a host before `evaluateWhen` can answer. */
export const whenFacts = (when: When): Fact[] => [
  ...(when.variant === undefined ? [] : serviceFacts()),
  ...(when.facts ?? []).map(
    (condition): Fact =>
      'unit' in condition ? { kind: 'unit', name: condition.unit } : { kind: 'path', path: condition.path },
  ),
]

/** The first condition that does not hold is the reason. Like a task it throws where the view knows no answer. */
export const evaluateWhen = (when: When, host: Host, view: HostView): true | { skipped: string } => {
  const { variant, group } = when
  if (variant !== undefined) {
    // Measured where an agent is installed (W5), else the inventory's word.
    const measured = readService(view)?.variant ?? host.variant
    if (measured !== variant) return { skipped: `the variant is ${measured}, not ${variant}` }
  }
  if (group !== undefined && !group.some((name) => host.groups.includes(name))) {
    return { skipped: `the host is not in ${group.join(' or ')}` }
  }
  const { family } = view.os
  if (when.os !== undefined && !when.os.includes(family))
    return { skipped: `the os is ${family}, not ${when.os.join(' or ')}` }
  for (const condition of when.facts ?? []) {
    const [what, is] = read(condition, view)
    if (is !== condition.is) return { skipped: `${what} is ${is === '' ? 'empty' : is}, not ${condition.is}` }
  }
  return true
}

const read = (condition: FactCondition, view: HostView): [what: string, is: string] =>
  'unit' in condition
    ? [`${condition.property} of ${condition.unit}`, view.unit(condition.unit).get(condition.property as UnitProperty)]
    : [condition.path, view.node(condition.path).type]
