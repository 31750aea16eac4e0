import { type ErrorCode, InputError } from '../errors.ts'

interface Fault {
  readonly code?: ErrorCode
  /** `provision.auth`: there is no line to name, for variables come from many places. */
  readonly place: string
  readonly message: string
  readonly remedy: string
}

/** What is wrong over many hosts: each thing once, with the hosts it is wrong on. */
export interface ProvisionFaults {
  add(fault: Fault, host: string): void
  throwAny(): void
}

const namesShown = 3

export const createProvisionFaults = (): ProvisionFaults => {
  const found = new Map<string, { readonly fault: Fault; readonly hosts: string[] }>()
  return {
    add: (fault, host) => {
      const key = JSON.stringify([fault.place, fault.message])
      const entry = found.get(key) ?? { fault, hosts: [] }
      found.set(key, entry)
      if (!entry.hosts.includes(host)) entry.hosts.push(host)
    },
    throwAny: () => {
      if (found.size === 0) return
      const codes = [...new Set([...found.values()].map(({ fault }) => fault.code ?? 'provision-invalid'))]
      throw new InputError(
        codes.length === 1 && codes[0] !== undefined ? codes[0] : 'provision-invalid',
        [...found.values()].map(({ fault: { place, message, remedy }, hosts }) => ({
          file: `${place}:`,
          message: `${message} (${hostList(hosts)})`,
          remedy,
        })),
      )
    },
  }
}

export const hostList = (hosts: readonly string[]): string => {
  // "and 1 more" would be longer than the name.
  const shown = hosts.length <= namesShown + 1 ? hosts : hosts.slice(0, namesShown)
  const rest = hosts.length - shown.length
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`
}
