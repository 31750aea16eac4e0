import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Secret } from '../secret.ts'
import type { Cache, Stored } from './cache.ts'
import { contentName, isGzip, notTheProgram } from './content.ts'
import { type Downloading, download } from './download.ts'
import { invalid, reasonOf, type Subject, unavailable } from './fault.ts'
import type { Architecture, Binary, BinarySource } from './release.ts'
import { shownSize } from './size.ts'
import { unpack } from './unpack.ts'

export interface Obtaining extends Downloading {
  readonly cache: Cache
  readonly cwd: string
  readonly largest: number
  readonly tell: (message: string) => void
}

/** The binary of one architecture: fetched, its digest compared, taken out of its archive, and looked at. Never run. */
export const obtain = async (source: BinarySource, architecture: Architecture, means: Obtaining): Promise<Binary> => {
  const { subject, cache, largest, tell } = means
  const cached = source.file === undefined ? await cache.find(source.sha256) : undefined
  const original = cached ?? (await fetched(source, means))
  tell(
    `${subject.what}: ${shownSize(original.size)} ${cached === undefined ? `from ${subject.from}` : 'out of the cache'}`,
  )
  const check = (got: Omit<Stored, 'file'>): void => {
    const instead = notTheProgram(got.head, architecture)
    if (instead !== null) throw wrongContent(subject, architecture, instead)
    if (source.binarySha256 !== undefined && source.binarySha256 !== got.sha256)
      throw wrongDigest(subject, 'the binary', source.binarySha256, got)
  }
  if (!isGzip(original.head)) {
    check(original)
    return binaryOf(original)
  }
  const binary = await cache.take(unpack(original.file, architecture, { subject, largest }), subject, check)
  tell(`${subject.what}: the binary has ${shownSize(binary.size)}, sha256 ${binary.sha256}`)
  return binaryOf(binary)
}

const binaryOf = ({ file, sha256, size }: Stored): Binary => ({ file, sha256, size })

/** A copy in the cache, with the digest that was asked for: a file of the user's may change while drover runs. */
const fetched = async (source: BinarySource, means: Obtaining): Promise<Stored> => {
  const { subject, cache, cwd } = means
  const accept = (got: Omit<Stored, 'file'>): void => {
    if (got.sha256 !== source.sha256) throw wrongDigest(subject, 'it', source.sha256, got)
  }
  const take = (bytes: AsyncIterable<Uint8Array>): Promise<Stored> => cache.take(bytes, subject, accept)
  if (source.file !== undefined) return take(readFile(resolve(cwd, source.file), subject))
  return download(source.url instanceof Secret ? source.url.reveal() : (source.url ?? ''), means, take)
}

async function* readFile(path: string, subject: Subject): AsyncGenerator<Uint8Array> {
  const unreadable = (why: string) =>
    unavailable(subject, {
      problem: `it cannot be read: ${why}.`,
      remedy: 'Name a file that is there and that you may read.',
    })
  const handle = await open(path).catch((thrown) => {
    throw unreadable(reasonOf(thrown))
  })
  try {
    if (!(await handle.stat()).isFile()) throw unreadable('it is no regular file')
    yield* handle.createReadStream({ autoClose: false })
  } finally {
    await handle.close()
  }
}

const wrongDigest = (subject: Subject, what: string, wanted: string, got: Omit<Stored, 'file'>) =>
  invalid(subject, {
    problem: `${what} has not the sha256 that is asked for.`,
    remedy: 'Take the digest from where the release was published, and the release from a place you trust.',
    detail: `wanted ${wanted}\ngot    ${got.sha256}: ${shownSize(got.size)}, by its content ${contentName(got.head)}`,
  })

const wrongContent = (subject: Subject, architecture: Architecture, instead: string) =>
  invalid(subject, {
    problem: `it is ${instead}, not a program for ${architecture}.`,
    remedy: `Name the agent's release for ${architecture}, and its digest.`,
  })
