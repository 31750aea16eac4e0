import type { ErrorDetails } from '../errors.ts'
import type { MachineIdentity } from './identity.ts'

/**
 * Which machine each host of a run has turned out to be. A machine under two names is changed under the first alone:
 * two lanes on one machine would undo each other's work, or count it twice.
 */
export interface Machines {
  /** At every look, since a boot makes a machine tell another story of itself. */
  meet(host: string, machine: MachineIdentity): void
  /** Why this host may not be changed; null: it may. */
  refusal(host: string): ErrorDetails | null
  /** What the operator should know, in the end. */
  notices(): readonly string[]
}

export const createMachines = (): Machines => {
  /** By machine and boot. A boot that is over stays: who was seen on it is still the machine that has been rebooted since. */
  const firstOn = new Map<string, string>()
  /** Each host with the name that its machine was met under first. */
  const firstOf = new Map<string, string>()
  const machineIds = new Map<string, string>()

  return {
    meet: (host, { machineId, bootId, pid1Start }) => {
      const boot = JSON.stringify([machineId, bootId, pid1Start])
      const first = firstOn.get(boot) ?? firstOf.get(host) ?? host
      firstOn.set(boot, first)
      firstOf.set(host, first)
      machineIds.set(host, machineId)
    },
    refusal: (host) => {
      const first = firstOf.get(host) ?? host
      return first === host ? null : sameMachine(host, first)
    },
    notices: () => {
      const clones = grouped([...machineIds].filter(([host]) => firstOf.get(host) === host))
      return [
        ...grouped([...firstOf]).map(
          (hosts) => `${listed(hosts)} are one machine: the same machine-id, on the same boot`,
        ),
        ...clones.map(
          (hosts) =>
            `${listed(hosts)} have the same machine-id and are not one machine: clones of one image? It has to be unique`,
        ),
      ]
    },
  }
}

/** Hosts that share a value, where there are several. */
const grouped = (pairs: readonly (readonly [host: string, value: string])[]): string[][] => {
  const groups = new Map<string, string[]>()
  for (const [host, value] of pairs) {
    const group = groups.get(value)
    if (group === undefined) groups.set(value, [host])
    else group.push(host)
  }
  return [...groups.values()].filter((hosts) => hosts.length > 1)
}

const sameMachine = (host: string, first: string): ErrorDetails => ({
  code: 'same-machine',
  message: `${host} is the machine that ${first} is, too: the same machine-id, on the same boot. It is changed as ${first}, if at all.`,
  remedy: `Leave one of the two out with --limit, or take it out of the inventory: !${host}, for one.`,
})

const mostNames = 10

const listed = (hosts: readonly string[]): string =>
  hosts.length > mostNames
    ? `${hosts.slice(0, mostNames).join(', ')} and ${hosts.length - mostNames} more`
    : hosts.join(', ')
