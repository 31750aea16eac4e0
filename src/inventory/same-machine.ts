import { isIPv6 } from 'node:net'
import type { Host } from './host.ts'
import type { FaultList, Position } from './positions.ts'
import { faultAt, showPosition } from './positions.ts'

/** The same address, port and way is one machine, and a machine with two names would be changed twice. */
export const refuseSameMachine = (placed: Iterable<{ host: Host; at: Position }>, list: FaultList): void => {
  const seen = new Map<string, { host: Host; at: Position }>()
  for (const { host, at } of placed) {
    const key = machineKey(host)
    const first = seen.get(key)
    if (first === undefined) {
      seen.set(key, { host, at })
      continue
    }
    const message = `${host.name} is the same machine as ${first.host.name} at ${showPosition(first.at)}: ${host.address} port ${host.port}.`
    list.add(faultAt(at, message, 'Keep one name, or correct the address, port or jump.'), `same ${showPosition(at)}`)
  }
}

/** Equal for two names of one machine. */
export const machineKey = (host: Host): string =>
  [host, ...host.jump].map((hop) => `${plainAddress(hop.address)} ${hop.port}`).join(' via ')

/** One spelling for each address: 2001:DB8:0::1 and 2001:db8::1 are the same. */
const plainAddress = (address: string): string => {
  const [plain = '', zone = ''] = address.toLowerCase().split('%')
  return isIPv6(plain) ? new URL(`http://[${plain}]`).hostname + zone : plain.replace(/\.$/, '')
}
