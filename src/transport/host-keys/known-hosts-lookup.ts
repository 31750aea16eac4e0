import { keyTypeOf } from './host-key.ts'
import { knownHostsName, matchesHosts } from './host-pattern.ts'
import type { KnownHostsLine } from './known-hosts-line.ts'

/** What known_hosts says about the key a host shows. */
export type HostKeyVerdict =
  | { readonly status: 'ok' }
  /** No key is known for the host. `hasAuthority`: a certificate authority is, and drover does not speak certificates. */
  | { readonly status: 'unknown'; readonly hasAuthority: boolean }
  /** Other keys are known, of these types; the shown key's own type need not be among them. */
  | { readonly status: 'changed'; readonly knownTypes: readonly string[]; readonly known: readonly KnownHostsLine[] }
  | { readonly status: 'revoked'; readonly by: KnownHostsLine }

/** The lines about one host, found once: hashed names cost a digest each. */
export interface HostLines {
  readonly named: readonly KnownHostsLine[]
  /** Under the name without the port, which OpenSSH also accepts for a host on another port, if the key is right. */
  readonly withoutPort: readonly KnownHostsLine[]
}

export const linesFor = (lines: readonly KnownHostsLine[], address: string, port: number): HostLines => {
  const about = (name: string) => lines.filter((line) => matchesHosts(line.hosts, name))
  return {
    named: about(knownHostsName(address, port)),
    withoutPort: port === 22 ? [] : about(knownHostsName(address, 22)),
  }
}

export const judgeHostKey = ({ named, withoutPort }: HostLines, blob: Buffer): HostKeyVerdict => {
  const all = [...named, ...withoutPort]
  const lineWith = (lines: readonly KnownHostsLine[], marker: KnownHostsLine['marker']) =>
    lines.find((line) => line.marker === marker && line.blob.equals(blob))
  const by = lineWith(all, 'revoked')
  if (by !== undefined) return { status: 'revoked', by }
  if (lineWith(all, 'none') !== undefined) return { status: 'ok' }
  const plain = named.filter((line) => line.marker === 'none')
  if (plain.length === 0) return { status: 'unknown', hasAuthority: all.some((l) => l.marker === 'cert-authority') }
  return {
    status: 'changed',
    knownTypes: [...new Set(plain.map((line) => line.keyType))],
    known: plain,
  }
}

/** The key types to ask the host for first, so that it shows a key that can be compared. */
export const knownTypes = ({ named, withoutPort }: HostLines): string[] => {
  const plain = (lines: readonly KnownHostsLine[]) => lines.filter((line) => line.marker === 'none')
  const preferred = plain(named).length > 0 ? plain(named) : plain(withoutPort)
  return [...new Set(preferred.map((line) => keyTypeOf(line.blob)))]
}
