import pLimit, { type LimitFunction } from 'p-limit'
import type { Content } from './content.ts'
import { createEncodings, type Encodings } from './encodings.ts'
import { createRateLimit, noRateLimit, type RateLimit } from './rate-limit.ts'

export interface UploadOptions {
  /** Hosts that are uploaded to at a time. */
  readonly forks: number
  /** Of all of them together. */
  readonly bytesPerS?: number | undefined
  /** Where compressed forms may be kept while they are in use. */
  readonly directory: string
  readonly baseOf: (sha256: string) => Promise<Content | null>
}

/** What all uploads of a run share. */
export interface Uploads {
  readonly limit: LimitFunction
  readonly rate: RateLimit
  readonly encodings: Encodings
  readonly baseOf: (sha256: string) => Promise<Content | null>
  readonly close: () => Promise<void>
}

export const createUploads = ({ forks, bytesPerS, directory, baseOf }: UploadOptions): Uploads => {
  const encodings = createEncodings(directory)
  return {
    limit: pLimit(forks),
    rate: bytesPerS === undefined ? noRateLimit : createRateLimit(bytesPerS),
    encodings,
    baseOf,
    close: encodings.close,
  }
}
