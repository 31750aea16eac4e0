import { DroverError } from '../../src/errors.ts'
import type { ExecRequest, ExecResult } from '../../src/transport/connection.ts'
import type { DecodedCommand } from './decode-command.ts'

/** What a fake connection does with one exec. See fake-connection.ts. */
export interface Answer {
  give(call: DecodedCommand, request: ExecRequest): Promise<ExecResult>
}

interface AnswerOptions {
  readonly code?: number
  readonly stderr?: string
}

export const answer = (stdout: string | Uint8Array, options: AnswerOptions = {}): Answer => pieces([stdout], options)

export const pieces = (stdout: readonly (string | Uint8Array)[], options: AnswerOptions = {}): Answer => ({
  give: async ({ token }, request) => {
    const code = options.code ?? 0
    const chunks = [`\x1eB ${token}\n`, ...stdout, `\x1eE ${token} ${code}\n`].map((piece) => Buffer.from(piece))
    for (const chunk of chunks) request.onStdout?.(chunk)
    const stderr = Buffer.from(`\x1eB ${token}\n${options.stderr ?? ''}\x1eE ${token}\n`)
    return { code, signal: null, stdout: Buffer.concat(chunks), stderr }
  },
})

export const always = (given: Answer) => (): Answer => given

export const fails = (error: Error): Answer => ({ give: () => Promise.reject(error) })

export const lost = (): Answer => fails(lostError())

/** The script began, wrote this, and no more came although the command ended. */
export const cut = (stdout: string, signal = 'SIGKILL'): Answer => ({
  give: async ({ token }) => ({
    code: null,
    signal,
    stdout: Buffer.from(`\x1eB ${token}\n${stdout}`),
    stderr: Buffer.from(`\x1eB ${token}\n`),
  }),
})

/** The command ended before our script began. */
export const ends = (code: number, stderr: string): Answer => ({
  give: async () => ({ code, signal: null, stdout: Buffer.alloc(0), stderr: Buffer.from(stderr) }),
})

export interface HeldAnswer extends Answer {
  /** Resolves when the exec has arrived. */
  readonly reached: Promise<void>
  release(): void
  fail(error: Error): void
}

export const hold = (then: Answer): HeldAnswer => {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  released.promise.catch(() => undefined)
  return {
    reached: reached.promise,
    release: () => released.resolve(),
    fail: (error) => released.reject(error),
    give: async (call, request) => {
      reached.resolve()
      await released.promise
      return then.give(call, request)
    },
  }
}

export const lostError = (): DroverError =>
  new DroverError({ code: 'connection-lost', message: 'The connection broke.', remedy: 'Run again.' })

/** Rejects when the signal fires, as a real connection does; never resolves. */
export const aborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => {
    const cancel = () => reject(new DroverError({ code: 'cancelled', message: 'Interrupted.', remedy: 'Run again.' }))
    if (signal?.aborted) cancel()
    else signal?.addEventListener('abort', cancel, { once: true })
  })
