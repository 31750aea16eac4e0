import { randomBytes } from 'node:crypto'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { answerOf } from '../become/become.ts'
import { becomeFailures, isRefusedPassword, TerminalRequired } from '../become/become-errors.ts'
import { BecomeTalk } from '../become/become-talk.ts'
import type { Connection, ExecRequest } from '../connection.ts'
import type { CommandInput } from './command.ts'
import { buildCommand } from './command.ts'
import { type Attempt, frameError, notBegunError, questionError } from './frame-errors.ts'
import { FrameReader } from './frame-reader.ts'
import { deframe } from './framing.ts'

export interface ScriptRequest
  extends Omit<CommandInput, 'token' | 'askToken' | 'terminal'>,
    Pick<ExecRequest, 'deadlineMs' | 'maxBytes' | 'signal'> {
  /** Called with the script's own standard output as it arrives; the whole is in the answer as well. */
  readonly onStdout?: (chunk: Uint8Array) => void
}

export interface ScriptAnswer {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** Hosts whose sudo was found to want a terminal: asked once, for as long as anybody knows the host. */
const terminalHosts = new WeakSet<Host>()

/** Runs one of our scripts on the host. What it resolves to came from that script, whole; all else rejects. */
export const runScript = async (connection: Connection, request: ScriptRequest): Promise<ScriptAnswer> => {
  const { host } = connection
  try {
    return await attempt(connection, request, request.become !== null && terminalHosts.has(host))
  } catch (error) {
    // sudo says so before it asks or runs anything, so the script was not begun.
    if (!(error instanceof TerminalRequired)) throw error
    terminalHosts.add(host)
    return attempt(connection, request, true)
  }
}

const attempt = async (
  connection: Connection,
  { onStdout, deadlineMs, maxBytes, signal, ...input }: ScriptRequest,
  terminal: boolean,
): Promise<ScriptAnswer> => {
  const { host } = connection
  const { become } = input
  const [token, askToken] = [randomToken(), randomToken()]
  const { command, stdin = [] } = buildCommand({ ...input, token, askToken, terminal })
  const password = answerOf(become)
  const talk =
    password &&
    new BecomeTalk({
      ...{ host, password, gate: become?.gate, askToken, stdin },
      refused: (by) => becomeFailures.refusedElsewhere(host, by),
      failure: (question, said) => questionError(question, said, how()),
    })
  const how = (): Attempt => ({ host, become, askToken, terminal, answeredFor: talk?.answeredFor })
  const live = new FrameReader(token)
  try {
    const result = await connection.exec({
      command,
      ...(talk === undefined ? { stdin } : { talk: talk.start }),
      deadlineMs,
      maxBytes,
      ...(signal !== undefined && { signal }),
      onStdout: (chunk) => {
        if (onStdout === undefined && live.hasBegun) return
        const body = live.push(chunk)
        if (body.length > 0) onStdout?.(body)
      },
    })
    const framed = deframe(token, result)
    if (framed.kind !== 'complete') throw frameError(framed, result, how())
    return { code: framed.code, stdout: framed.stdout, stderr: framed.stderr }
  } catch (error) {
    if (isRefusedPassword(error)) talk?.stop('wrong')
    const isLate = error instanceof DroverError && error.code === 'command-timeout' && !live.hasBegun
    if (!isLate) throw error
    throw notBegunError(deadlineMs, Buffer.concat([live.noise, talk?.heard ?? Buffer.alloc(0)]), how())
  } finally {
    talk?.stop()
  }
}

const randomToken = (): string => randomBytes(12).toString('hex')
