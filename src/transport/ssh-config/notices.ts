import { notDone } from './unhonoured.ts'
import type { Filled } from './ways.ts'

/** Below it a slow link may look dead. */
const leastIntervalMs = 15_000

/** What ssh_config asks for and does not get, each once, however many hosts it is about. */
export const noticesOf = (filled: readonly Filled[]): readonly string[] => {
  const found = new Map<string, { readonly hosts: Set<string>; readonly place: string }>()
  const note = (what: string, host: string, place = ''): void => {
    const known = found.get(what) ?? { hosts: new Set(), place }
    known.hosts.add(host)
    found.set(what, known)
  }
  for (const { host, settings } of filled) {
    for (const { name, at, isForOpenssh } of notDone(settings.asked, host)) {
      const what = isForOpenssh ? `${name} is not honoured by the transport ssh2` : `${name} is not honoured`
      note(what, host.name, `; ${at.file}:${at.line}`)
    }
    const { keepalive } = settings
    if (keepalive !== undefined && keepalive.intervalMs < leastIntervalMs)
      note(`ServerAliveInterval ${keepalive.intervalMs / 1000} is short: a slow link may look dead`, host.name)
  }
  return [...found].map(([what, { hosts, place }]) => {
    const [first = ''] = hosts
    const about = hosts.size === 1 ? first : `${hosts.size} hosts, ${first} the first`
    return `ssh_config: ${what} (${about}${place})`
  })
}
