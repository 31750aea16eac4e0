import type { Architecture, BinarySource, Release } from '../release/release.ts'
import { compareVersions } from '../release/version.ts'
import { Secret } from '../secret.ts'
import type { RuleFault } from './rules.ts'

/** The last release that knew no other root than /usr/local, as far as anybody has said (domain.md 13, O-2). */
const lastWithoutRoot = '0.2.0'

export interface AgentSource {
  readonly version: string
  readonly url: string | Secret
  readonly sha256: string
}

/** Where a host gets its agent from by itself, or why it cannot. */
export const agentSource = (
  release: Release,
  architecture: Architecture | undefined,
): { readonly source: AgentSource } | { readonly fault: RuleFault } => {
  const known = Object.keys(release.sources) as Architecture[]
  const [only, another] = known
  const wanted = architecture ?? (another === undefined ? only : undefined)
  if (wanted === undefined) {
    const message = 'The release is for both architectures, and a host is told of one binary.'
    return fault(['provision', 'architecture'], message, 'Add architecture: amd64 or architecture: arm64.')
  }
  const source = release.sources[wanted]
  if (source === undefined) {
    const remedy = `Add ${wanted} to agent, with the url and the sha256 of its archive.`
    return fault(['agent'], `The release has no binary for ${wanted}.`, remedy)
  }
  return fromUrl(release.version, wanted, source)
}

const fromUrl = (version: string, architecture: Architecture, { url, sha256 }: BinarySource) => {
  if (url !== undefined && isPlain(url)) return { source: { version, url, sha256 } }
  if (url !== undefined) {
    const remedy = 'Write it as percent and two digits, such as %20 for a blank.'
    return fault(['agent', architecture, 'url'], 'The URL holds a character that none has.', remedy)
  }
  return fault(
    ['agent', architecture, 'file'],
    'A file of this machine is nothing that a host could fetch at its first boot.',
    'Give url: with an https address of the archive that the hosts reach, and the sha256 of that.',
  )
}

const isPlain = (url: string | Secret): boolean => /^[!#-[\]-~]+$/.test(textOf(url))
const textOf = (url: string | Secret): string => (url instanceof Secret ? url.reveal() : url)

const fault = (path: readonly string[], message: string, remedy: string): { readonly fault: RuleFault } => ({
  fault: { path, message, remedy },
})

export const hasQuery = ({ url }: AgentSource): boolean => textOf(url).includes('?')

/** True only where it is certain: nobody can compare what is no version. */
export const isBeforeHostRoot = ({ version, hostRootSince }: Release): boolean => {
  const [order, isOld] =
    hostRootSince === undefined
      ? [compareVersions(version, lastWithoutRoot), (sign: number) => sign <= 0]
      : [compareVersions(version, hostRootSince), (sign: number) => sign < 0]
  return order !== null && isOld(order)
}
