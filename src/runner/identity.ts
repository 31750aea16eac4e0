import type { ErrorDetails } from '../errors.ts'
import type { OsFacts } from '../facts/state.ts'

/** One boot of a machine. In a container the boot id is the kernel's, and only the start of PID 1 is its own. */
export interface BootIdentity {
  readonly bootId: string
  readonly pid1Start: string
}

/** Who a host is, by what it says itself. */
export interface MachineIdentity extends BootIdentity {
  readonly machineId: string
}

type Told = Pick<OsFacts, 'machineId' | 'bootId' | 'pid1Start'>

/** Null where the host does not say it in the form it has to have: an error text, say, is nobody's boot. */
export const bootOf = ({ bootId, pid1Start }: Omit<Told, 'machineId'>): BootIdentity | null =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(bootId) && /^\d+$/.test(pid1Start) ? { bootId, pid1Start } : null

/** An image that has not been booted yet holds `uninitialized` or nothing, and nobody is that. */
export const machineOf = (told: Told): MachineIdentity | null => {
  const boot = bootOf(told)
  const { machineId } = told
  return boot !== null && /^[0-9a-f]{32}$/.test(machineId) && !/^0+$/.test(machineId) ? { machineId, ...boot } : null
}

export const isSameBoot = (one: BootIdentity, other: BootIdentity): boolean =>
  one.bootId === other.bootId && one.pid1Start === other.pid1Start

/** What a later look at the same host must show: whoever said who it was is still there, whatever boot it is on. */
export const wrongMachine = (first: MachineIdentity | null, later: Told): ErrorDetails | null => {
  if (first === null || first.machineId === later.machineId) return null
  return {
    code: 'wrong-machine',
    message: `The host's address now leads to another machine: its machine-id is ${shown(later.machineId)}, and was ${first.machineId} when the run began. Nothing further was done.`,
    remedy:
      'See who has the address: it may have been given to another host, or a proxy in front of several chose another. What was changed before is on the first machine.',
  }
}

const shown = (machineId: string): string => (/^[0-9a-f]{1,64}$/.test(machineId) ? machineId : 'not to be read')
