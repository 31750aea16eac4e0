import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Host } from '../../inventory/host.ts'

/** The name a host has in known_hosts, as OpenSSH writes it. */
export const knownHostsName = (address: string, port: number): string => {
  const name = address.toLowerCase()
  return port === 22 ? name : `[${name}]:${port}`
}

/** What a host's key is looked up by: its alias alone, as OpenSSH does, else its address and port. */
export const keyPlaceOf = ({ hostKeyAlias, address, port }: KeyedHost): { address: string; port: number } =>
  hostKeyAlias === undefined ? { address, port } : { address: hostKeyAlias, port: 22 }

type KeyedHost = Pick<Host, 'address' | 'port' | 'hostKeyAlias'>

/** The first field for a name that must not be readable in the file. */
export const hashedName = (name: string, salt: Buffer): string => `|1|${salt.toString('base64')}|${digest(name, salt)}`

/** Whether the first field of a known_hosts line means this name. One negated match speaks against the whole line. */
export const matchesHosts = (hosts: string, name: string): boolean => {
  if (hosts.startsWith('|')) return matchesHashed(hosts, name)
  let isMatched = false
  for (const pattern of hosts.toLowerCase().split(',')) {
    if (pattern.startsWith('!')) {
      if (matchesGlob(pattern.slice(1), name)) return false
    } else if (pattern !== '' && matchesGlob(pattern, name)) {
      isMatched = true
    }
  }
  return isMatched
}

const matchesHashed = (field: string, name: string): boolean => {
  const [, version, salt, expected, ...rest] = field.split('|')
  if (version !== '1' || salt === undefined || expected === undefined || rest.length > 0) return false
  const actual = Buffer.from(digest(name, Buffer.from(salt, 'base64')))
  const wanted = Buffer.from(expected)
  return actual.length === wanted.length && timingSafeEqual(actual, wanted)
}

const digest = (name: string, salt: Buffer): string => createHmac('sha1', salt).update(name).digest('base64')

/**
 * `*` and `?` only: in known_hosts and ssh_config a bracket is a bracket. Written out, since a regular expression made from many
 * stars backtracks without end.
 */
export const matchesGlob = (pattern: string, name: string): boolean => {
  let at = 0
  let star = -1
  let resume = 0
  let position = 0
  while (position < name.length) {
    if (pattern[at] === '*') {
      star = at
      resume = position
      at += 1
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[position])) {
      at += 1
      position += 1
    } else if (star >= 0) {
      at = star + 1
      resume += 1
      position = resume
    } else {
      return false
    }
  }
  return /^\**$/.test(pattern.slice(at))
}
