import { DroverError, toDroverError } from '../../errors.ts'
import { abortError } from '../cancelled.ts'
import type { ExecRequest, ExecResult } from '../connection.ts'
import type { SessionChannel } from './session-client.ts'
import { writeBytes, writeStdin } from './write-stdin.ts'

// A child left behind may hold the output open for ever after the command itself has ended. Counted from the last
// output: sshd tells the exit status while megabytes of it may still be on a slow way.
const closeGraceMs = 2_000

type RunOptions = Pick<ExecRequest, 'stdin' | 'talk' | 'maxBytes' | 'onStdout'> & {
  /** Its reason is the error that ends the command. */
  readonly signal: AbortSignal
  readonly lostError: () => DroverError
}

/** Feeds a command and collects what it says until it ends. */
export const runChannel = (channel: SessionChannel, options: RunOptions): Promise<ExecResult> => {
  const { stdin, talk, maxBytes, onStdout, signal, lostError } = options
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    let bytes = 0
    let exit: Pick<ExecResult, 'code' | 'signal'> | undefined
    let grace: NodeJS.Timeout | undefined
    let isOver = false

    const settle = (finish: () => void): void => {
      if (isOver) return
      isOver = true
      clearTimeout(grace)
      signal.removeEventListener('abort', onAbort)
      channel.close()
      finish()
    }
    const fail = (error: DroverError): void => settle(() => reject(error))
    const onAbort = (): void => fail(abortError(signal))
    const end = (): void => {
      const ended = exit
      if (ended === undefined) fail(lostError())
      else settle(() => resolve({ ...ended, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }))
    }
    // Both streams are read to their end even when nobody wants them: they share one window, and 'close' waits for them.
    const partner = talk?.({
      write: (bytes) => writeBytes(channel, bytes, () => isOver),
      end: () => void (isOver || channel.end()),
      fail,
    })
    const collect =
      (into: Buffer[], ...tell: (((chunk: Uint8Array) => void) | undefined)[]) =>
      (chunk: Buffer): void => {
        if (isOver) return
        grace?.refresh()
        bytes += chunk.length
        if (bytes > maxBytes) {
          fail(tooMuch(maxBytes))
          return
        }
        into.push(chunk)
        try {
          for (const each of tell) each?.(chunk)
        } catch (error) {
          // Within ssh2's parser: thrown further, it would end the connection of every other command.
          fail(toDroverError(error))
        }
      }

    signal.addEventListener('abort', onAbort, { once: true })
    channel.on('error', () => undefined)
    channel.on('data', collect(stdout, onStdout, partner?.stdout?.bind(partner)))
    channel.stderr.on('data', collect(stderr, partner?.stderr?.bind(partner)))
    channel.on('exit', (code: number | null, name?: string) => {
      if (isOver) return
      exit = { code, signal: code === null ? (name ?? null) : null }
      grace = setTimeout(end, closeGraceMs)
    })
    channel.on('close', end)
    if (signal.aborted) onAbort()
    if (partner === undefined)
      writeStdin(channel, stdin ?? new Uint8Array(), () => isOver).catch((error: unknown) => fail(toDroverError(error)))
  })
}

const tooMuch = (maxBytes: number): DroverError =>
  new DroverError({
    code: 'inspect-failed',
    message: `The command wrote more than ${maxBytes} bytes and was cut off.`,
    remedy: 'See what floods the output; a login script that prints without end does that too.',
  })
