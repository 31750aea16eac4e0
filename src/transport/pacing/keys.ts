import { isIPv4, isIPv6 } from 'node:net'

export interface Place {
  /** As it is connected to: a name is one place, whatever it resolves to. */
  readonly address: string
  readonly port: number
  /** What the whole way through jump hosts is called; undefined: none. */
  readonly via?: string | undefined
}

/**
 * What a connection start counts against, narrowest first. The endpoint is one sshd. The network is there for what no
 * endpoint shows: one sshd with many addresses, a firewall or a balancer that limits new connections to all behind it.
 * Behind a jump host, that is the jump host itself.
 */
export const paceKeys = ({ address, port, via }: Place): readonly string[] => {
  if (via !== undefined) return [`${via} > ${address} ${port}`, `via ${via}`]
  const network = networkOf(address)
  return [`${address} ${port}`, ...(network === undefined ? [] : [`net ${network}`])]
}

/** The /24 or /64 of an address. */
const networkOf = (address: string): string | undefined => {
  const [plain = ''] = address.split('%')
  if (isIPv4(plain)) return plain.slice(0, plain.lastIndexOf('.'))
  if (!isIPv6(plain)) return undefined
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0')
  return [...groups, ...zeros, ...rest].slice(0, 4).join(':')
}
