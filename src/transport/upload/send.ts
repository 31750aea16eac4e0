import { type FileHandle, open } from 'node:fs/promises'
import type { Upload } from './content.ts'
import type { Encoded } from './encodings.ts'
import { type FarSide, scriptText, wordsOf } from './far-side.ts'
import { createGate, type Gate } from './gate.ts'
import { acknowledgedBytes, type Pace, paceOf } from './pace.ts'
import type { Place } from './probe.ts'
import type { RateLimit } from './rate-limit.ts'
import { refusal } from './refusal.ts'
import { createSilence, type Silence } from './silence.ts'

/** One attempt to send what is missing. */
export interface Sending {
  readonly upload: Upload
  readonly place: Place
  /** The host keeps this many bytes of what it has. */
  readonly from: number
  readonly encoded: Encoded
  readonly rate: RateLimit
  readonly signal: AbortSignal
  /** Told of all bytes as they leave. */
  readonly onSent: (bytes: number) => void
}

/**
 * How an attempt ended where the host says so: `unfit`: what arrived is not the file; `moved`: what was there of it
 * is not there any more.
 */
export type SendEnd =
  | { readonly end: 'staged' }
  | { readonly end: 'moved' }
  | { readonly end: 'unfit'; readonly words: string }

/** Without a sign that bytes arrive the connection is no better than a lost one. */
const silenceMs = 120_000

/** When all has arrived there is the digest of it, and a disk that has to have written it. */
const closingMs = 300_000

const dayMs = 24 * 3600 * 1000

export const send = async (far: FarSide, sending: Sending): Promise<SendEnd> => {
  const { upload, place, from, encoded } = sending
  const { content, base } = upload
  const pace = paceOf(encoded.bytes, content.size, sending.rate.bytesPerS)
  const silence = createSilence(silenceMs)
  const flow = createFlow(sending, { pace, silence })
  let pieces = 0
  const file = await open(encoded.file)
  try {
    const answer = await far.exec({
      script: scriptText('receive'),
      args: [
        ...[place.directory, content.sha256, String(content.size), String(from), encoded.encoding],
        ...[String(encoded.bytes), String(pace.pieceBytes), far.run],
        ...(encoded.encoding === 'delta' && base !== undefined ? [base.path] : []),
      ],
      payload: { [Symbol.asyncIterator]: () => flow.from(file) },
      deadlineMs: dayMs,
      maxBytes: 1024 * 1024,
      onStdout: (chunk) => {
        pieces += chunk.filter((byte) => byte === dot).length
        const taken = acknowledgedBytes(pieces, pace, encoded.bytes)
        flow.acknowledge(taken)
        silence.broken(taken < encoded.bytes ? silenceMs : closingMs)
      },
      signal: AbortSignal.any([sending.signal, silence.signal]),
    })
    if (answer.code === 0) return { end: 'staged' }
    if (answer.code === 95) return { end: 'moved' }
    if (answer.code === 92 || answer.code === 93) return { end: 'unfit', words: wordsOf(answer) }
    throw refusal(upload, answer.code, wordsOf(answer))
  } finally {
    silence.end()
    flow.end()
    await file.close()
  }
}

const dot = '.'.charCodeAt(0)

interface Flow {
  /** The bytes from their beginning: those of an attempt before are not read on. */
  from(file: FileHandle): AsyncGenerator<Uint8Array>
  acknowledge(total: number): void
  end(): void
}

interface Bounds {
  readonly pace: Pace
  readonly silence: Silence
}

const createFlow = ({ encoded, rate, onSent }: Sending, { pace, silence }: Bounds): Flow => {
  const { windowBytes, pieceBytes } = pace
  // Of less than a piece the host says nothing, so no more than that may have to go at once.
  const portion = Math.min(rate.portion, pieceBytes)
  let gate: Gate = createGate(windowBytes)
  const over = new AbortController()
  return {
    async *from(file) {
      gate.close()
      gate = createGate(windowBytes)
      const mine = gate
      for await (const block of blocksOf(file, encoded)) {
        for (let at = 0; at < block.length; at += portion) {
          const piece = block.subarray(at, at + portion)
          if (!(await mine.pass(piece.length))) return
          await silence.during(() => rate.take(piece.length, over.signal))
          onSent(piece.length)
          yield piece
        }
      }
    },
    acknowledge: (total) => gate.acknowledge(total),
    end: () => {
      over.abort()
      gate.close()
    },
  }
}

const blockBytes = 1024 * 1024

/** Ends early where the file has become shorter meanwhile: the host finds out. */
async function* blocksOf(file: FileHandle, { start, bytes }: Encoded): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; ) {
    const wanted = Math.min(blockBytes, bytes - at)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, start + at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
