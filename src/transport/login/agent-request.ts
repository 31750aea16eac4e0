import { createConnection } from 'node:net'

/** More than any agent has to say; a length beyond it is no agent's. */
const maxAnswerBytes = 1024 * 1024

export interface AgentRequest {
  readonly socket: string
  /** Type byte and contents, without the length. */
  readonly message: Buffer
  /** Absent: as long as it takes, since somebody may have to confirm or to touch a key. */
  readonly deadlineMs?: number
}

/**
 * One question to ssh-agent over a connection of its own, and its answer. Nobody who waits for an agent is kept alive
 * by it: one may never answer, or wait for a confirmation that nobody gives.
 */
export const askAgent = ({ socket: path, message, deadlineMs }: AgentRequest): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(path).unref()
    let received = Buffer.alloc(0)
    const settle = (result: Buffer | Error): void => {
      clearTimeout(timer)
      socket.destroy()
      if (result instanceof Error) reject(result)
      else resolve(result)
    }
    const timer =
      deadlineMs === undefined ? undefined : setTimeout(() => settle(new Error('it does not answer')), deadlineMs)
    socket.on('error', settle)
    socket.on('close', () => settle(new Error('it closed the connection')))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 4) return
      const length = received.readUInt32BE(0)
      if (length > maxAnswerBytes) settle(new Error('it answers with something else'))
      else if (received.length >= 4 + length) settle(received.subarray(4, 4 + length))
    })
    const length = Buffer.alloc(4)
    length.writeUInt32BE(message.length)
    socket.write(Buffer.concat([length, message]))
  })
