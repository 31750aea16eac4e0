import { Socket } from 'node:net'
import type { GetStreamCallback, IdentityCallback, ParsedKey, SignCallback, SigningRequestOptions } from 'ssh2'
import ssh2 from 'ssh2'

/**
 * ssh2 sets an agent no deadline. One that never answers, or that waits for a confirmation nobody gives, must not keep
 * the process alive.
 */
class LeavableAgent extends ssh2.OpenSSHAgent {
  readonly #sockets = new Set<Socket>()

  override getStream(callback: GetStreamCallback): void {
    super.getStream((error, stream) => {
      if (stream instanceof Socket) {
        stream.unref()
        this.#sockets.add(stream)
        stream.once('close', () => this.#sockets.delete(stream))
      }
      callback(error, stream)
    })
  }

  leave(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** The identities of an ssh-agent that ssh2 can use; certificates and security keys are not among them. */
export const listAgentKeys = (socket: string, deadlineMs: number): Promise<ParsedKey[]> =>
  new Promise((resolve, reject) => {
    const agent = new LeavableAgent(socket)
    const timer = setTimeout(() => {
      reject(new Error('it does not answer'))
      agent.leave()
    }, deadlineMs)
    agent.getIdentities((error, keys) => {
      clearTimeout(timer)
      if (error) reject(error)
      // The types allow for more, but what the agent protocol of ssh2 hands over are keys it has parsed.
      else resolve((keys ?? []) as ParsedKey[])
    })
  })

/** The agent, showing one identity: ssh2 would offer all of them, past the server's limit of attempts. */
export class SingleKeyAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #agent: LeavableAgent
  readonly #key: ParsedKey

  constructor(socket: string, key: ParsedKey) {
    super()
    this.#agent = new LeavableAgent(socket)
    this.#key = key
  }

  override getIdentities(callback: IdentityCallback<ParsedKey>): void {
    callback(null, [this.#key])
  }

  override sign(key: ParsedKey, data: Buffer, options: SigningRequestOptions, callback?: SignCallback): void
  override sign(key: ParsedKey, data: Buffer, callback: SignCallback): void
  override sign(
    key: ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    callback?: SignCallback,
  ): void {
    if (typeof options === 'function') this.#agent.sign(key, data, options)
    else this.#agent.sign(key, data, options, callback)
  }
}
