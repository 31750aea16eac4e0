import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { WireReader, wireString } from '../../src/transport/login/wire.ts'

const type = 'sk-ssh-ed25519@openssh.com'
const application = 'ssh:'
const userWasPresent = 1

/** An ssh-agent that holds one key of the kind that a FIDO device would: what it signs, and how, is as in U2F. */
export const startSecurityKeyAgent = async (socket: string) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const blob = Buffer.concat([type, point, application].map(wireString))
  let counter = 0

  const signatureOf = (data: Buffer): Buffer => {
    counter += 1
    const state = Buffer.alloc(5, userWasPresent)
    state.writeUInt32BE(counter, 1)
    const hash = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()
    const signature = sign(null, Buffer.concat([hash(application), state, hash(data)]), privateKey)
    return Buffer.concat([wireString(type), wireString(signature), state])
  }
  const answerTo = (message: Buffer): Buffer => {
    if (message[0] === 11)
      return Buffer.concat([Buffer.from([12, 0, 0, 0, 1]), wireString(blob), wireString('a security key')])
    const reader = new WireReader(message.subarray(1))
    const isOurs = message[0] === 13 && reader.bytes().equals(blob)
    return isOurs ? Buffer.concat([Buffer.from([14]), wireString(signatureOf(reader.bytes()))]) : Buffer.from([5])
  }
  const server = createServer((client) => {
    let received = Buffer.alloc(0)
    client.on('error', () => undefined)
    client.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 4 || received.length < 4 + received.readUInt32BE(0)) return
      client.write(wireString(answerTo(received.subarray(4))))
    })
  }).listen(socket)
  await once(server, 'listening')
  return {
    socket,
    publicLine: `${type} ${blob.toString('base64')}`,
    signatures: () => counter,
    stop: async () => void server.close(),
  }
}
