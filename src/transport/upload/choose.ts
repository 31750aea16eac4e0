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

/** The form that takes the fewest bytes, of those that the host understands. To be released by who gets it. */
export const chooseEncoding = async (encodings: Encodings, content: Content, choice: Choice): Promise<Encoded> => {
  const { from, programs, base } = choice
  const raw = rawFrom(content, from)
  if (raw.bytes < leastBytes) return raw
  const encoding = (['zstd', 'gzip'] as const).find((name) => programs.includes(name))
  if (encoding === undefined) return raw
  const whole = await made(encodings, { content, from, encoding })
  const best = await better(whole, raw, raw.bytes * worthwhile)
  if (base === null || encoding !== 'zstd') return best
  const delta = await made(encodings, { content, from, encoding: 'delta', base })
  return better(delta, best, best.bytes - 1)
}

/** `one` if it was made and has no more than so many bytes. The other is let go. */
const better = async (one: Encoded | null, other: Encoded, most: number): Promise<Encoded> => {
  const isBetter = one !== null && one.bytes <= most
  await (isBetter ? other : one)?.release()
  return isBetter ? one : other
}

/** Where it cannot be made, as for want of room here, there is always a form that needs nothing. */
const made = (encodings: Encodings, request: EncodeRequest): Promise<Encoded | null> =>
  encodings.encode(request).catch(() => null)
