import { randomBytes } from 'node:crypto'
import type { CommandInput } from './command.ts'
import { buildCommand } from './command.ts'
import type { Connection, ExecRequest } from './connection.ts'
import { frameError } from './frame-errors.ts'
import { FrameReader } from './frame-reader.ts'
import { deframe } from './framing.ts'

export interface ScriptRequest
  extends Omit<CommandInput, 'token'>,
    Pick<ExecRequest, 'deadlineMs' | 'maxBytes' | 'signal'> {
  /** Called with the script's own standard output as it arrives; the whole is in the answer as well. */
  readonly onStdout?: (chunk: Uint8Array) => void
}

export interface ScriptAnswer {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** Runs one of our scripts on the host. What it resolves to came from that script, whole; all else rejects. */
export const runScript = async (connection: Connection, request: ScriptRequest): Promise<ScriptAnswer> => {
  const { onStdout, deadlineMs, maxBytes, signal, ...input } = request
  const token = randomBytes(12).toString('hex')
  const live = new FrameReader(token)
  const result = await connection.exec({
    ...buildCommand({ ...input, token }),
    deadlineMs,
    maxBytes,
    ...(signal !== undefined && { signal }),
    ...(onStdout !== undefined && {
      onStdout: (chunk: Uint8Array) => {
        const body = live.push(chunk)
        if (body.length > 0) onStdout(body)
      },
    }),
  })
  const framed = deframe(token, result)
  if (framed.kind !== 'complete') throw frameError(framed, result, input.become)
  return { code: framed.code, stdout: framed.stdout, stderr: framed.stderr }
}
