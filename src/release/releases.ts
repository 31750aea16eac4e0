import { Secret } from '../secret.ts'
import { openCache } from './cache.ts'
import { type Fetch, type Patience, usualPatience } from './download.ts'
import { subjectOf } from './fault.ts'
import { obtain } from './obtain.ts'
import { type Architecture, architectures, type Binary, type BinarySource, type Releases } from './release.ts'
import { largestRelease } from './size.ts'

export interface ReleaseMeans {
  /** Where what was fetched is kept, by its digest; made where it is missing. */
  readonly cacheDirectory: string
  /** What the paths of files are relative to. */
  readonly cwd: string
  readonly fetch: Fetch
  /** Hears what was fetched, and how big it is. */
  readonly tell: (message: string) => void
  readonly patience?: Patience
  readonly largest?: number
}

/** Fetches and checks each binary once, however often it is asked for. */
export const createReleases = (means: ReleaseMeans): Releases => {
  const { cwd, fetch, tell, patience = usualPatience, largest = largestRelease } = means
  const cache = openCache({ directory: means.cacheDirectory, largest })
  const asked = new Map<string, Promise<Binary>>()
  const binaryOf = (version: string, architecture: Architecture, source: BinarySource): Promise<Binary> => {
    const key = keyOf(version, architecture, source)
    const subject = subjectOf(version, architecture, source)
    const binary =
      asked.get(key) ?? obtain(source, architecture, { subject, cache, cwd, fetch, patience, largest, tell })
    asked.set(key, binary)
    return binary
  }
  return {
    fetch: async (release) => {
      const results = await Promise.allSettled(
        architectures.flatMap((architecture) => {
          const source = release.sources[architecture]
          if (source === undefined) return []
          return [binaryOf(release.version, architecture, source).then((binary) => [architecture, binary] as const)]
        }),
      )
      const reasons = results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []))
      if (reasons.length === 1) throw reasons[0]
      if (reasons.length > 1) throw new AggregateError(reasons, 'The release is wrong in several ways.')
      const found = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      return { ...release, binaries: Object.fromEntries(found) }
    },
  }
}

const keyOf = (
  version: string,
  architecture: Architecture,
  { file, url, sha256, binarySha256 }: BinarySource,
): string =>
  JSON.stringify([version, architecture, file, url instanceof Secret ? url.reveal() : url, sha256, binarySha256])
