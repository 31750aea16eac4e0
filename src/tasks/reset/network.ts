import { type Fact, probeKey } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { localDnsInterface } from './belongings.ts'

export const networkKey = probeKey('network-left', [])

export const networkFacts = (): Fact[] => [
  { kind: 'probe', name: 'network-left', timeoutS: 40 },
  { kind: 'program', name: 'nft' },
  { kind: 'program', name: 'ip' },
]

export interface NetworkLeft {
  /** Whether the look came to its end: what a cut one does not list may be there all the same. */
  readonly isWhole: boolean
  readonly table: 'present' | 'absent' | 'unknown'
  /** The dummy interface of LocalDNS. */
  readonly hasLocalDns: boolean
  /** Others that the agent's own reset deletes by their names. */
  readonly interfaces: readonly string[]
  /** By which of the host's interfaces drover came in, as far as it can be told. */
  readonly ssh: readonly string[]
  /** Policy rules beyond those of every host. */
  readonly rules: readonly string[]
}

export const readNetwork = (view: HostView): NetworkLeft => {
  const { code, stdout } = view.probe('network-left')
  const lines = stdout.split('\n')
  const valuesOf = (key: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []))
  const [table] = valuesOf('table')
  const interfaces = valuesOf('interface')
  return {
    isWhole: code === 0 && lines.includes('whole=yes'),
    // Without nft no table of it was ever made; a probe that was cut off has seen none.
    table: table === 'present' ? 'present' : table === 'absent' || table === 'no-nft' ? 'absent' : 'unknown',
    hasLocalDns: interfaces.includes(localDnsInterface),
    interfaces: interfaces.filter((name) => name !== localDnsInterface),
    ssh: valuesOf('ssh'),
    rules: valuesOf('rule'),
  }
}
