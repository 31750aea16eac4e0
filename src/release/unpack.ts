import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract, type Headers } from 'tar-stream'
import { DroverError } from '../errors.ts'
import { printable } from '../printable.ts'
import { tooLarge } from './cache.ts'
import { invalid, type Subject } from './fault.ts'
import type { Architecture } from './release.ts'

/** Tar pads what it writes, with the block size that was asked for. */
const paddingBytes = 1024 * 1024

const remedy = 'Make it anew with nothing in it but the agent, or name the archive of the release.'

/** What the one member of a `.tar.gz` holds; throws where the archive is not of exactly that form. */
export async function* unpack(
  file: string,
  architecture: Architecture,
  { subject, largest }: { readonly subject: Subject; readonly largest: number },
): AsyncGenerator<Uint8Array> {
  const name = `aks-flex-node-linux-${architecture}`
  const members = extract()
  let failure: unknown
  // A few bytes may unpack to more than any disk holds.
  const bounded = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > largest + paddingBytes) throw tooLarge(subject, largest)
      yield chunk
    }
  }
  pipeline(createReadStream(file), createGunzip({ rejectGarbageAfterEnd: true }), bounded, members, (error) => {
    failure = error
  })
  let count = 0
  try {
    for await (const member of members) {
      count += 1
      const problem = count > 1 ? `also holds ${shown(member.header)}.` : memberProblem(member.header, name)
      if (problem !== null) throw invalid(subject, { problem: `the archive ${problem}`, remedy })
      yield* member as AsyncIterable<Uint8Array>
    }
  } catch (thrown) {
    throw thrown instanceof DroverError ? thrown : damaged(subject, failure ?? thrown)
  }
  if (count === 0) throw invalid(subject, { problem: `the archive holds no ${name}: it is empty.`, remedy })
}

const memberProblem = (header: Headers, name: string): string | null => {
  if (header.name !== name) return `holds ${shown(header)} and not just ${name}.`
  return header.type === 'file' ? null : `holds ${name} as a ${header.type ?? 'thing unknown'}, not as a file.`
}

const shown = ({ name }: Headers): string => `"${printable(name).slice(0, 100)}"`

const damaged = (subject: Subject, thrown: unknown): DroverError => {
  if (thrown instanceof DroverError) return thrown
  const message = thrown instanceof Error ? thrown.message : ''
  const isCut = message === 'unexpected end of file' || message === 'Unexpected end of data'
  return invalid(subject, {
    problem: isCut
      ? 'the archive is cut off: it ends in the middle.'
      : 'the archive is damaged, or no .tar.gz archive.',
    remedy: 'Get it anew, and take its sha256 from where the release was published.',
    ...(message !== '' && { detail: message }),
  })
}
