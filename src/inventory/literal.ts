import type { InputFault } from '../errors.ts'
import { parseEndpoint } from './endpoint.ts'
import type { Position } from './positions.ts'
import { faultAt } from './positions.ts'
import type { HostEntry, Source } from './source.ts'
import { emptyLevel } from './source.ts'

/** `host1,host2:2222,[2001:db8::1]:22,user@h,`: a list on the command line. Any comma makes a source a list. */
export const readLiteral = (text: string): { source: Source; faults: InputFault[] } => {
  const faults: InputFault[] = []
  const hosts: HostEntry[] = []
  let start = 0
  for (const piece of text.split(',')) {
    const item = piece.trim()
    const at: Position = { file: text, line: 1, column: start + piece.length - piece.trimStart().length + 1 }
    start += piece.length + 1
    if (item === '') continue
    const endpoint = parseEndpoint(item)
    if ('problem' in endpoint) {
      faults.push(faultAt(at, endpoint.problem.message, endpoint.problem.remedy))
      continue
    }
    const { host, user, port } = endpoint
    const settings = {
      ...(user !== undefined && { user: { value: user, at } }),
      ...(port !== undefined && { port: { value: port, at } }),
    }
    hosts.push({ name: { value: host, at }, level: { settings, vars: {} } })
  }
  return { source: { name: text, level: emptyLevel, hosts, groups: [], complete: faults.length === 0 }, faults }
}
