import type { Content } from './content.ts'
import { type Encoded, type EncodeRequest, type Encodings, rawFrom } from './encodings.ts'

export interface Choice {
  readonly from: number
  /** What the host can unpack. */
  readonly programs: readonly string[]
  /** A file of this workstation with the content of the host's base; null: there is none here, or not there any more. */
  readonly base: Content | null
}

/** Less than this is not worth the turn. */
const leastBytes = 16 * 1024

/** What has to be saved before anything is unpacked on a host. */
const worthwhile = 0.9

/** The form that takes the fewest bytes, of those that the host understands. */
export const chooseEncoding = async (encodings: Encodings, content: Content, choice: Choice): Promise<Encoded> => {
  const { from, programs, base } = choice
  const raw = rawFrom(content, from)
  if (raw.bytes < leastBytes) return raw
  const encoding = (['zstd', 'gzip'] as const).find((name) => programs.includes(name))
  if (encoding === undefined) return raw
  const whole = await made(encodings, { content, from, encoding })
  const best = whole !== null && whole.bytes <= raw.bytes * worthwhile ? whole : raw
  if (base === null || encoding !== 'zstd') return best
  const delta = await made(encodings, { content, from, encoding: 'delta', base })
  return delta !== null && delta.bytes < best.bytes ? delta : best
}

/** Where it cannot be made, as for want of room here, there is always a form that needs nothing. */
const made = (encodings: Encodings, request: EncodeRequest): Promise<Encoded | null> =>
  encodings.encode(request).catch(() => null)
