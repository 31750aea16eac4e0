import { DroverError } from '../errors.ts'
import type { HostState } from '../facts/state.ts'
import { bootOf, isSameBoot, machineOf, wrongMachine } from './identity.ts'
import type { Lane } from './lane.ts'
import { emit } from './run.ts'

/** The first look at a host: who it is, from here on. */
export const recogniseFirst = (lane: Lane, state: HostState): HostState => {
  const host = lane.play.host.name
  const machine = machineOf(state.os)
  if (machine === null) return state
  lane.run.machines.meet(host, machine)
  emit(lane.run, { type: 'host-recognised', host, ...machine })
  return state
}

/** A later look, which must be at the same machine; on another boot, perhaps, and then the state says so. */
export const recogniseAgain = (lane: Lane, first: HostState, state: HostState): HostState => {
  const wrong = wrongMachine(machineOf(first.os), state.os)
  if (wrong !== null) throw new DroverError(wrong)
  const [before, now] = [bootOf(first.os), bootOf(state.os)]
  const rebooted = before !== null && now !== null && !isSameBoot(before, now)
  return { ...(rebooted ? recogniseFirst(lane, state) : state), rebooted }
}
