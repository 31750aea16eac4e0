import { setTimeout as pause } from 'node:timers/promises'
import { DroverError } from '../errors.ts'
import { reasonOf, type Subject, unavailable } from './fault.ts'
import { follow } from './redirects.ts'

export type Fetch = typeof globalThis.fetch

export interface Patience {
  /** The most that may pass without a byte. */
  readonly idleMs: number
  /** The most for everything, all tries taken together. */
  readonly wholeMs: number
  /** Before the second try, the third and so on. */
  readonly pausesMs: readonly number[]
}

export const usualPatience: Patience = { idleMs: 30_000, wholeMs: 20 * 60_000, pausesMs: [500, 2_000, 5_000] }

export interface Downloading {
  readonly fetch: Fetch
  readonly patience: Patience
  readonly subject: Subject
}

/** A try that failed for a reason that may pass. */
class Passing extends Error {}

/** Hands over what the URL gives, anew at each try: the network may fail in the middle, and servers have bad moments. */
export const download = async <T>(
  url: string,
  { fetch, patience, subject }: Downloading,
  receive: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> => {
  const whole = AbortSignal.timeout(patience.wholeMs)
  for (let tried = 1; ; tried += 1) {
    const idle = watchIdle(patience.idleMs)
    try {
      const signal = AbortSignal.any([whole, idle.signal])
      const response = await follow(url, { fetch, signal, subject }).catch(passing)
      return await receive(bodyOf(response, subject, idle.touch))
    } catch (thrown) {
      if (!(thrown instanceof Passing)) throw thrown
      const why = whole.aborted
        ? `it took longer than ${patience.wholeMs / 1000} s`
        : idle.signal.aborted
          ? `nothing came for ${patience.idleMs / 1000} s`
          : thrown.message
      const wait = patience.pausesMs[tried - 1]
      if (whole.aborted || wait === undefined) throw gaveUp(subject, why, tried)
      await pause(wait)
    } finally {
      idle.stop()
    }
  }
}

const passing = (thrown: unknown): never => {
  throw thrown instanceof DroverError ? thrown : new Passing(reasonOf(thrown))
}

async function* bodyOf(response: Response, subject: Subject, touch: () => void): AsyncGenerator<Uint8Array> {
  const { status, headers, body } = response
  if (status !== 200) {
    await body?.cancel()
    if (status >= 500 || status === 408 || status === 429) throw new Passing(`the server answered ${status}`)
    throw refused(subject, status)
  }
  const coding = headers.get('content-encoding')
  // It has been undone already, and the digest is that of what it was.
  if (coding !== null && coding !== 'identity') {
    await body?.cancel()
    throw unavailable(subject, {
      problem: `the server sends it with Content-Encoding ${coding}, so what arrives is another file.`,
      remedy: 'Have the server send the file as it is, or download it by other means and name it as a file.',
    })
  }
  try {
    for await (const chunk of body ?? []) {
      touch()
      yield chunk
    }
  } catch (thrown) {
    throw new Passing(`the connection broke in the middle (${reasonOf(thrown)})`)
  }
}

const watchIdle = (idleMs: number) => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DOMException('idle', 'TimeoutError')), idleMs)
  return { signal: controller.signal, touch: () => void timer.refresh(), stop: () => clearTimeout(timer) }
}

const refused = (subject: Subject, status: number) =>
  unavailable(subject, {
    problem: `the server answered ${status}.`,
    remedy:
      status === 401 || status === 403
        ? 'Correct the URL; where it is signed, its signature may have expired.'
        : 'Correct the URL.',
  })

const gaveUp = (subject: Subject, why: string, tried: number) =>
  unavailable(subject, {
    problem: `it could not be downloaded: ${why}${tried > 1 ? `, at try ${tried}` : ''}.`,
    remedy: 'See whether this machine reaches the server (HTTPS_PROXY is honoured), or name the release as a file.',
  })
