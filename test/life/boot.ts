import { agentUnit, machinesTarget } from '../../src/tasks/agent/names.ts'
import { unitDirectory } from '../../src/tasks/agent/paths.ts'
import { pass, startUnit } from './agent.ts'
import { fire } from './armed.ts'
import type { LivingHost } from './host.ts'

/** What is enabled comes up, an armed rollback before it; nothing else of the boot before is left. */
export const boot = (host: LivingHost): void => {
  for (const name of host.disk.entries('/run')) host.disk.remove(`/run/${name}`, true)
  host.units.clear()
  host.loaded.clear()
  host.lock = null
  host.restartDue = false
  host.owed = []
  host.boots += 1
  host.onStep('went down')
  fire(host, true)
  for (const name of host.disk.entries(`${unitDirectory}/multi-user.target.wants`))
    if (name === agentUnit || name === machinesTarget) startUnit(host, name)
  pass(host)
}
