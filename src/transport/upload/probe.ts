import { printableText as printable } from '../../printable.ts'
import type { Upload } from './content.ts'
import { type FarSide, scriptText, uploadFailed, wordsOf } from './far-side.ts'

/** Where a file is to be staged on the host, and what is there of it. */
export interface Place {
  readonly directory: string
  /** The whole of it is staged already. */
  readonly isStaged: boolean
  /** Bytes of it that an upload which was cut left there. */
  readonly have: number
  readonly freeBytes: number
  /** Null: the file system makes as many as it needs. */
  readonly freeInodes: number | null
  /** Tells file systems apart. */
  readonly device: string
  /** As the mount table has them: `ro`, `noexec`. */
  readonly options: readonly string[]
  /** The base is on the host, and is what it is said to be. */
  readonly hasBase: boolean
  /** Somebody else may write to the directory, and there is no better one: who owns it, and its mode. */
  readonly unfit?: string
}

export interface Probed {
  /** What can unpack there: `zstd`, `gzip`. */
  readonly programs: readonly string[]
  /** One for each upload, in their order. */
  readonly places: readonly Place[]
}

/** Digests of files of a quarter of a gigabyte on a slow disk are in it. */
const deadlineMs = 180_000

/** Looks and writes nothing. `withBase`: whether the base is of any use, since looking at it takes time. */
export const probe = async (
  far: FarSide,
  uploads: readonly Upload[],
  { withBase, signal }: { readonly withBase: (upload: Upload) => boolean; readonly signal: AbortSignal },
): Promise<Probed> => {
  const args = uploads.flatMap((upload) => {
    const base = withBase(upload) ? upload.base : undefined
    return [upload.path, upload.content.sha256, base?.path ?? '', base?.sha256 ?? '']
  })
  const answer = await far.exec({ script: scriptText('probe'), args, deadlineMs, maxBytes: 1024 * 1024, signal })
  const path = uploads[0]?.path ?? ''
  if (answer.code !== 0) throw uploadFailed(path, `looking for its place ended with ${answer.code}`, wordsOf(answer))
  const [first = '', ...lines] = answer.stdout.toString('utf8').trimEnd().split('\n')
  const places = lines.map(placeOf)
  if (!first.startsWith('programs') || places.length !== uploads.length)
    throw uploadFailed(path, 'what the host says of its place is cut', wordsOf(answer))
  return { programs: first.split(' ').slice(1), places }
}

const placeOf = (line: string): Place => {
  const [, state, have, blockSize, free, inodes, freeInodes, device = '', options = '', base, directory, unfit] =
    line.split(' ')
  return {
    directory: decoded(directory),
    isStaged: state === 'whole',
    have: Number(have),
    freeBytes: Number(blockSize) * Number(free),
    // Some file systems count none.
    freeInodes: Number(inodes) === 0 ? null : Number(freeInodes),
    device,
    options: options.split(','),
    hasBase: base === 'yes',
    ...(state === 'unfit' && { unfit: printable(decoded(unfit)).trim() }),
  }
}

const decoded = (base64 = ''): string => Buffer.from(base64, 'base64').toString('utf8')
