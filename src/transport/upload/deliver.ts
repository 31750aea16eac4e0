import { DroverError } from '../../errors.ts'
import { chooseEncoding } from './choose.ts'
import type { Content, Upload } from './content.ts'
import type { Encoded, Encodings } from './encodings.ts'
import { type FarSide, uploadFailed } from './far-side.ts'
import { type Place, type Probed, probe } from './probe.ts'
import type { RateLimit } from './rate-limit.ts'
import { refusalOf } from './room.ts'
import { send } from './send.ts'

export interface Means {
  readonly encodings: Encodings
  readonly rate: RateLimit
  /** The content with that digest, where this workstation knows it. */
  readonly baseOf: (sha256: string) => Promise<Content | null>
  readonly signal: AbortSignal
}

export interface Delivered {
  /** Bytes that left this workstation, those that were lost included. */
  readonly sent: number
  readonly how: 'whole' | 'resumed' | 'delta'
}

/** Losses in a row between which the host got nothing. */
const mostLosses = 10

/** In what it may travel: whatever did not lead to the file is not tried again. */
type Form = 'any' | 'whole' | 'raw'

/**
 * Stages one file, whatever breaks on the way: a lost connection is made anew and the rest is sent; a difference that
 * does not lead to the file gives way to the whole of it. `probed`: what the host says of this file alone.
 */
export const deliver = async (
  far: FarSide,
  upload: Upload,
  { probed, means }: { readonly probed: Probed; readonly means: Means },
): Promise<Delivered> => {
  const { content, path } = upload
  let seen: Probed | undefined = probed
  let form: Form = 'any'
  let [sent, losses, most] = [0, 0, 0]
  let how: Delivered['how'] = 'whole'
  // What was there before an attempt that spoilt it from there on.
  let sound = content.size
  for (;;) {
    try {
      const withBase = (): boolean => form === 'any' && probed.places[0]?.hasBase === true
      seen ??= await probe(far, [upload], { withBase, signal: means.signal })
      const place = onlyPlace(seen)
      if (place.isStaged) return { sent, how }
      if (place.have > most) [most, losses] = [place.have, 0]
      const from = place.have > content.size ? 0 : Math.min(place.have, sound)
      const refusal = refusalOf([{ upload, place: { ...place, have: from } }])
      if (refusal !== null) throw refusal.error
      const encoded = await formOf(upload, { from, place, programs: seen.programs, form, means })
      how = encoded.encoding === 'delta' ? 'delta' : from > 0 ? 'resumed' : how
      const onSent = (bytes: number): void => {
        sent += bytes
        sound = content.size
      }
      seen = undefined
      const ended = await send(far, { ...{ upload, place, from, encoded, onSent }, ...means }).finally(encoded.release)
      if (ended.end === 'staged') return { sent, how }
      if (ended.end === 'moved') {
        losses += 1
        if (losses > mostLosses) throw uploadFailed(path, 'what has arrived of it is taken away again and again')
        continue
      }
      if (encoded.encoding === 'raw' && from === 0)
        throw uploadFailed(path, 'what arrives is not the file', ended.words)
      form = encoded.encoding === 'delta' ? 'whole' : 'raw'
      sound = encoded.encoding === 'delta' ? from : 0
    } catch (thrown) {
      losses += 1
      const isLost = thrown instanceof DroverError && thrown.code === 'connection-lost'
      if (!isLost || losses > mostLosses) throw thrown
      await far.reconnect(thrown)
    }
  }
}

const onlyPlace = ({ places: [place] }: Probed): Place => {
  if (place === undefined) throw new Error('a probe without an answer')
  return place
}

interface Forming {
  readonly from: number
  readonly place: Place
  readonly programs: readonly string[]
  readonly form: Form
  readonly means: Means
}

const formOf = async ({ content, base }: Upload, forming: Forming): Promise<Encoded> => {
  const { from, place, programs, form, means } = forming
  const known = form === 'any' && base !== undefined && place.hasBase ? await means.baseOf(base.sha256) : null
  return chooseEncoding(means.encodings, content, { from, programs: form === 'raw' ? [] : programs, base: known })
}
