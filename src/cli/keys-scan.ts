import pLimit from 'p-limit'
import { DroverError, toDroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import type { HostKeyScanner } from '../transport/host-keys/host-key-scan.ts'
import { keyPlaceOf } from '../transport/host-keys/host-pattern.ts'
import { type KnownHosts, loadKnownHosts } from '../transport/host-keys/known-hosts.ts'
import { type SurveyedKey, surveyHostKeys } from '../transport/host-keys/known-hosts-survey.ts'
import { wayKey } from '../transport/way-key.ts'

/** What was seen of one host, or why nothing was. */
export interface ScannedHost {
  readonly host: Host
  readonly keys: readonly SurveyedKey[]
  readonly error: DroverError | null
  /** Where its new keys would be written. */
  readonly file: string
}

export interface ScanOptions {
  readonly scanner: HostKeyScanner
  readonly forks: number
  readonly signal: AbortSignal
}

/** The hosts and the jump hosts on their ways, each once, a jump host before what is behind it. */
export const scanHosts = async (
  hosts: readonly Host[],
  { scanner, forks, signal }: ScanOptions,
): Promise<readonly ScannedHost[]> => {
  const limit = pLimit(forks)
  const cache = new Map()
  const scans = new Map<string, Promise<ScannedHost>>()

  const look = async (host: Host, knownHosts: KnownHosts): Promise<Pick<ScannedHost, 'keys' | 'error'>> => {
    try {
      for (const hop of await Promise.all(waysOf(host).slice(0, -1).map(scan))) refuseUnsafe(hop)
      const { address, port } = keyPlaceOf(host)
      const blobs = await limit(() => scanner.hostKeysOf(host, { signal }))
      return { keys: surveyHostKeys(knownHosts.about(address, port), blobs), error: null }
    } catch (thrown) {
      return { keys: [], error: toDroverError(thrown).at({ host: host.name }) }
    }
  }
  const scan = (host: Host): Promise<ScannedHost> => {
    const key = wayKey([...host.jump, host])
    const known = scans.get(key)
    if (known !== undefined) return known
    const scanning = loadKnownHosts(host.knownHostsFiles, { cache, mayBeMissing: true }).then(async (knownHosts) => ({
      host,
      file: knownHosts.learnFile,
      ...(await look(host, knownHosts)),
    }))
    scans.set(key, scanning)
    return scanning
  }
  const all = await Promise.all(hosts.flatMap(waysOf).map(scan))
  return [...new Set(all)]
}

/** The host after its jump hosts, each with its own part of the way. */
const waysOf = (host: Host): readonly Host[] => [
  ...host.jump.map((hop, index) => ({ ...hop, jump: host.jump.slice(0, index) })),
  host,
]

/** Nobody logs in to a jump host that is not who it should be. */
const refuseUnsafe = ({ host, keys, error }: ScannedHost): void => {
  if (error !== null) {
    const message = `By way of jump host ${host.name}: ${error.message}`
    throw new DroverError({ code: error.code, message, remedy: error.remedy, cause: error })
  }
  if (host.hostKeyPolicy === 'off') return
  if (keys.some(({ state }) => state === 'known')) return
  const isChanged = keys.some(({ state }) => state !== 'new')
  throw new DroverError({
    code: isChanged ? 'host-key-changed' : 'host-key-unknown',
    message: `Its jump host ${host.name} ${isChanged ? 'shows another key than known_hosts holds' : 'is not known yet'}.`,
    remedy: isChanged
      ? 'See to the key of the jump host, then scan again.'
      : 'Write the keys of the jump host first (drover keys scan --write), then scan again.',
  })
}
