import { agentUnit } from '../../src/tasks/agent/names.ts'
import { movingMark, ROOT } from '../../src/tasks/agent/paths.ts'
import { life } from './daemon.ts'
import type { LivingHost } from './host.ts'
import { GivesUp } from './written.ts'

/** systemd starts a unit; where that is the agent, it does what agents do at their start. */
export const startUnit = (host: LivingHost, name: string): void => {
  const wasUp = host.agent.active === 'active'
  host.start(name)
  host.onStep(`${name} was started`)
  if (!wasUp && host.agent.active === 'active') live(host)
}

export const restartUnit = (host: LivingHost, name: string): void => {
  host.stop(name)
  host.unit(name).active = 'inactive'
  startUnit(host, name)
}

const live = (host: LivingHost): void => {
  host.restartDue = false
  const digest = host.disk.digest(host.agent.exe) ?? ''
  const steps = life(host)
  try {
    for (let step = steps.next(); !step.done; step = steps.next()) {
      host.onStep(`the agent ${step.value}`)
      host.agentSteps -= 1
      if (host.agentSteps > 0) continue
      host.agentSteps = Number.POSITIVE_INFINITY
      host.stop(agentUnit, 'failed')
      host.restartDue = true
      host.onStep('the agent was killed')
      return
    }
    host.ran.add(digest)
  } catch (thrown) {
    if (!(thrown instanceof GivesUp)) throw thrown
    host.stop(agentUnit, 'failed')
    host.onStep(`the agent gave up: ${thrown.message}`)
  }
}

const isHeld = ({ agent, disk }: LivingHost): boolean =>
  agent.active === 'active' && disk.lstat(ROOT).type === 'directory' && disk.exists(movingMark)

/** Minutes go by: restarts that are due come, and an agent that waits for the end of a move gives way to its next life (6.5). */
export const pass = (host: LivingHost): void => {
  for (let minutes = 0; minutes < 4; minutes += 1) {
    host.clockS += 151
    if (!host.restartDue && !isHeld(host)) return
    host.restartDue = false
    restartUnit(host, agentUnit)
  }
}
