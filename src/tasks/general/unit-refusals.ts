import type { ErrorDetails } from '../../errors.ts'
import type { HostView, UnitView } from '../../facts/view.ts'
import { agentUnit, imageMount, machinesTarget } from '../agent/names.ts'
import { targetMembers } from '../agent/workers.ts'

/** Why systemd would not start or enable the unit, as it has it loaded. */
export const startRefusal = (unit: UnitView): ErrorDetails | null => {
  const { name } = unit
  const state = unit.get('LoadState')
  switch (state) {
    case 'loaded':
    case 'merged':
      return null
    case 'masked':
      return masked(name)
    case 'not-found':
      return {
        code: 'precondition-unmet',
        message: `systemd knows no unit ${name}.`,
        remedy:
          'Correct the name, or install in an earlier step what brings the unit: package-present or file-present.',
      }
    default:
      return {
        code: 'precondition-unmet',
        message: `systemd cannot use ${name}: it is ${state}${reason(unit)}.`,
        remedy: `Mend its unit file; systemd-analyze verify ${name} on the host says what is wrong with it.`,
      }
  }
}

/** LoadError is a name on the bus and, in quotes, the words for people. */
const reason = (unit: UnitView): string => {
  const words = /"(.+)"$/.exec(unit.get('LoadError'))?.[1]
  return words === undefined ? '' : ` (${words})`
}

export const masked = (name: string): ErrorDetails => ({
  code: name === machinesTarget ? 'target-masked' : 'precondition-unmet',
  message: `${name} is masked, so it can be neither started nor enabled.`,
  remedy: `If that is not on purpose: systemctl unmask ${name} on the host. drover never unmasks.`,
})

/** Directly, or by starting an agent that is down and wants it. */
const reachesTarget = (view: HostView, unit: UnitView): boolean => {
  const pulled = (['Wants', 'Requires', 'BindsTo'] as const).flatMap((property) => unit.list(property))
  if (pulled.includes(machinesTarget)) return true
  const agent = view.unit(agentUnit)
  return unit.name !== agentUnit && pulled.includes(agentUnit) && !agent.isActive && reachesTarget(view, agent)
}

/** Rule W2: a unit that wants machines.target starts it along, and with it every machine that is enabled and down. */
export const dependencyRefusal = (view: HostView, unit: UnitView): ErrorDetails | null => {
  if (!reachesTarget(view, unit) || view.unit(machinesTarget).isActive) return null
  const down = targetMembers(view).filter(
    (member) => member !== imageMount && !(view.knowsUnit(member) && view.unit(member).isActive),
  )
  if (down.length === 0) return null
  return {
    code: 'would-start-others',
    message: `${unit.name} wants ${machinesTarget}, which is down: starting it would also start ${down.join(', ')}.`,
    remedy:
      'Run the playbook remediate, or worker-running in an earlier step, so that the active worker runs first. Machines that are not to run: machinectl disable NAME.',
  }
}
