import { askAgent } from './agent-request.ts'
import { WireReader, wireString } from './wire.ts'

const requestIdentities = 11
const identitiesAnswer = 12
const signRequest = 13
const signResponse = 14
const rsaSha256 = 2
const rsaSha512 = 4

/** A key that ssh-agent holds: a plain one, one of a security key, or a certificate with its key. */
export interface AgentIdentity {
  readonly socket: string
  readonly type: string
  readonly blob: Buffer
  readonly comment: string
}

export const listAgentKeys = async (socket: string, deadlineMs: number): Promise<AgentIdentity[]> => {
  const answer = await askAgent({ socket, message: Buffer.from([requestIdentities]), deadlineMs })
  if (answer[0] !== identitiesAnswer) throw new Error('it shows no keys')
  try {
    const reader = new WireReader(answer.subarray(1))
    const count = reader.uint32()
    const identities: AgentIdentity[] = []
    while (identities.length < count) {
      const [blob, comment] = [reader.bytes(), reader.text()]
      identities.push({ socket, type: new WireReader(blob).text(), blob, comment })
    }
    return identities
  } catch (error) {
    if (error instanceof RangeError) throw new Error('its list of keys is damaged')
    throw error
  }
}

/** The whole signature, with its own type in front. Of an RSA key it is by the algorithm that is named. */
export const signByAgent = async (
  { socket, blob }: Pick<AgentIdentity, 'socket' | 'blob'>,
  data: Buffer,
  algorithm = '',
): Promise<Buffer> => {
  const flags = Buffer.alloc(4)
  flags.writeUInt32BE(
    algorithm.startsWith('rsa-sha2-512') ? rsaSha512 : algorithm.startsWith('rsa-sha2-256') ? rsaSha256 : 0,
  )
  const message = Buffer.concat([Buffer.from([signRequest]), wireString(blob), wireString(data), flags])
  const answer = await askAgent({ socket, message })
  if (answer[0] !== signResponse) throw new Error('ssh-agent does not sign with this key')
  return new WireReader(answer.subarray(1)).bytes()
}
