import type { ParsedKey } from 'ssh2'
import { wireString } from './wire.ts'

/** The algorithm by which a key of this type signs; for RSA there is more than one, and this is the strongest. */
export const signatureAlgorithm = (keyType: string): string => (keyType === 'ssh-rsa' ? 'rsa-sha2-512' : keyType)

/** The whole signature over these bytes, with its own type in front. */
export const signatureOf = (key: ParsedKey, data: Buffer): Buffer => {
  const signature: Buffer | Error = key.sign(data, key.type === 'ssh-rsa' ? 'sha512' : undefined)
  if (signature instanceof Error) throw signature
  const body = key.type.startsWith('ecdsa-') ? twoIntegers(signature) : signature
  return Buffer.concat([wireString(signatureAlgorithm(key.type)), wireString(body)])
}

/** ECDSA: a DER sequence of two integers becomes the two integers of SSH, which are written alike. */
const twoIntegers = (der: Buffer): Buffer => {
  // 0x30 LENGTH 0x02 LENGTH R 0x02 LENGTH S; only the sequence may be longer than one byte of length says.
  const start = (der[1] ?? 0) & 0x80 ? 3 : 2
  const integerAt = (at: number): Buffer => der.subarray(at + 2, at + 2 + (der[at + 1] ?? 0))
  const r = integerAt(start)
  const s = integerAt(start + 2 + r.length)
  return Buffer.concat([wireString(r), wireString(s)])
}
