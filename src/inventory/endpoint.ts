import { isIPv6 } from 'node:net'
import type { Problem } from './names.ts'
import { quoted, userProblem } from './names.ts'

/** `[user@]host[:port]`; an IPv6 address with a port stands in brackets. */
interface Endpoint {
  readonly host: string
  readonly user?: string
  readonly port?: number
}

/** The host is not checked: it may still hold ranges. */
export const parseEndpoint = (text: string): Endpoint | { problem: Problem } => {
  const userEnd = text.lastIndexOf('@')
  const user = userEnd === -1 ? undefined : text.slice(0, userEnd)
  const problem = user === undefined ? undefined : userProblem(user)
  if (problem !== undefined) return { problem }
  const { host, port } = splitPort(text.slice(userEnd + 1))
  if (port === undefined) return { host, ...(user !== undefined && { user }) }
  const number = Number(port)
  if (!/^\d{1,5}$/.test(port) || number < 1 || number > 65_535) {
    return { problem: { message: `${quoted(text)} has a bad port.`, remedy: 'A port is a number from 1 to 65535.' } }
  }
  return { host, port: number, ...(user !== undefined && { user }) }
}

const splitPort = (text: string): { host: string; port?: string } => {
  if (isIPv6(text)) return { host: text }
  const [, inside, port] = /^\[([^\]]*)\](?::(.*))?$/.exec(text) ?? []
  if (inside !== undefined && isIPv6(inside)) return { host: inside, ...(port !== undefined && { port }) }
  const colon = text.lastIndexOf(':')
  // A colon before a closing bracket belongs to a range.
  if (colon === -1 || text.includes(']', colon)) return { host: text }
  return { host: text.slice(0, colon), port: text.slice(colon + 1) }
}
