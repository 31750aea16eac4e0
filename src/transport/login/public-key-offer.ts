import { generateKeyPairSync } from 'node:crypto'
import type { Client, ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'
import { wireString } from './wire.ts'

/**
 * A key that ssh2 cannot offer by itself: a certificate, one of a security key, or one that ssh-agent holds. With the
 * last ssh2 forgets what the server has answered, so that a second factor would never be given.
 */
export interface PublicKeyOffer {
  /** What is in the blob. */
  readonly type: string
  readonly blob: Buffer
  /** The algorithm of the request (RFC 4252, 7); absent: what ssh2 finds for a key of this type, which for RSA varies. */
  readonly algorithm?: string
  /** The whole signature over these bytes, with its own type in front. */
  sign(data: Buffer, algorithm: string): Promise<Buffer>
}

/** The key could not be used; the next one may be. */
export class CannotSign extends Error {}

/** Looks to ssh2 like a key of a kind that it knows; what is sent instead of it is the offer. */
export const offerKey = (offer: PublicKeyOffer): ParsedKey => {
  standIn ??= makeStandIn()
  const key = Object.create(standIn, {
    type: { value: offer.type },
    sign: { value: () => troubles.get(key) ?? new CannotSign('a key that others sign for cannot sign by itself') },
  }) as ParsedKey
  offers.set(key, offer)
  return key
}

const offers = new WeakMap<object, PublicKeyOffer>()
const troubles = new WeakMap<object, CannotSign>()
let standIn: ParsedKey | undefined

/** ssh2 wants to see some private key; this one is for nothing else, and is never sent. */
const makeStandIn = (): ParsedKey => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const key: ParsedKey | Error = ssh2.utils.parseKey(privateKey.export({ type: 'sec1', format: 'pem' }).toString())
  if (key instanceof Error) throw key
  return key
}

/** The parts of ssh2 1.17.0 that are relied on; its version is pinned, and a test logs in through them. */
interface Protocol {
  authPK(user: string, key: ParsedKey, algorithm?: string | Sign, sign?: Sign): void
  readonly _authsQueue: string[]
  readonly _kex: { readonly sessionID: Buffer }
  readonly _kexinit: unknown
  _queue: Buffer[] | undefined
  readonly _packetRW: {
    readonly write: {
      alloc(size: number): Buffer
      readonly allocStart: number
      finalize(packet: Buffer): Buffer
    }
  }
  readonly _cipher: { encrypt(packet: Buffer): void }
}

type Sign = (data: Buffer, done: (signature: Buffer) => void) => void

/**
 * Lets this client, which has begun to connect, offer what `offerKey` made. All other keys go the way of ssh2, save that
 * the first one is sent with its signature: it is most often right, and to ask about it before costs a round trip.
 * Tells whether the last request was a signed one, to which there is an answer for every key.
 */
export const allowOffers = (client: Client): { hasSigned(): boolean } => {
  const { _protocol: protocol } = client as unknown as { _protocol: Protocol }
  assertKnown(protocol)
  const native = protocol.authPK.bind(protocol)
  let isFirst = true
  let hasSigned = false
  protocol.authPK = (user, key, chosen, sign) => {
    const offer = offers.get(key)
    const signer = typeof chosen === 'function' ? chosen : sign
    const signsAtOnce = isFirst && signer === undefined
    isFirst = false
    hasSigned = signsAtOnce || signer !== undefined
    if (offer === undefined) {
      const atOnce = signsAtOnce && typeof chosen !== 'function' ? signAtOnce(key, chosen) : undefined
      return native(user, key, chosen, atOnce ?? sign)
    }
    const algorithm = offer.algorithm ?? (typeof chosen === 'string' ? chosen : offer.type)
    const request = requestOf(user, { algorithm, blob: offer.blob, isSigned: signer !== undefined })
    const ask = (message: Buffer): void => {
      protocol._authsQueue.push('publickey')
      send(protocol, message)
    }
    if (signer === undefined) return ask(request)
    const data = Buffer.concat([wireString(protocol._kex.sessionID), request])
    offer.sign(data, algorithm).then(
      (signature) => ask(Buffer.concat([request, wireString(signature)])),
      (error: Error) => {
        hasSigned = false
        troubles.set(key, new CannotSign(error.message))
        // ssh2 asks the key to sign, is told the trouble, and goes on with what comes next.
        signer(data, () => undefined)
      },
    )
  }
  return { hasSigned: () => hasSigned }
}

const signAtOnce =
  (key: ParsedKey, algorithm: string = key.type): Sign =>
  (data, done) => {
    const hash = /^rsa-sha2-(256|512)$/.exec(algorithm)?.[1]
    done(key.sign(data, hash && `sha${hash}`))
  }

const userAuthRequest = 50

interface Request {
  readonly algorithm: string
  readonly blob: Buffer
  readonly isSigned: boolean
}

const requestOf = (user: string, { algorithm, blob, isSigned }: Request): Buffer =>
  Buffer.concat([
    Buffer.from([userAuthRequest]),
    ...[user, 'ssh-connection', 'publickey'].map(wireString),
    Buffer.from([isSigned ? 1 : 0]),
    wireString(algorithm),
    wireString(blob),
  ])

const send = (protocol: Protocol, message: Buffer): void => {
  const { write } = protocol._packetRW
  const packet = write.alloc(message.length)
  packet.set(message, write.allocStart)
  const whole = write.finalize(packet)
  // While keys are being exchanged anew everything else waits.
  if (protocol._kexinit === undefined) protocol._cipher.encrypt(whole)
  else protocol._queue = [...(protocol._queue ?? []), whole]
}

const assertKnown = (protocol: Protocol): void => {
  const isKnown =
    typeof protocol?.authPK === 'function' &&
    Array.isArray(protocol._authsQueue) &&
    typeof protocol._packetRW?.write?.finalize === 'function'
  if (!isKnown) throw new Error('this ssh2 is another than the one that certificates were tried with')
}
