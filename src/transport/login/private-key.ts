import { createPrivateKey, sign } from 'node:crypto'
import type { ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'

/** The key in the text, or why there is none. Slow for encrypted keys (bcrypt): once per process. */
export const parsePrivateKey = (text: string, passphrase: string | undefined): ParsedKey | Error => {
  const parsed: ParsedKey | Error | ParsedKey[] = ssh2.utils.parseKey(text, passphrase)
  const key = Array.isArray(parsed) ? (parsed[0] as ParsedKey | undefined) : parsed
  if (key === undefined) return new Error('the file holds no key')
  if (key instanceof Error) return key
  if (!key.isPrivateKey()) return new Error('this is a public key')
  return withCachedSigner(key)
}

const digests = new Map([
  ['ecdsa-sha2-nistp256', 'sha256'],
  ['ecdsa-sha2-nistp384', 'sha384'],
  ['ecdsa-sha2-nistp521', 'sha512'],
  ['ssh-rsa', 'sha512'],
])

// ssh2 parses the PEM again for every signature: 15 times the cost of the signature itself for ed25519.
const withCachedSigner = (key: ParsedKey): ParsedKey => {
  const secret = createPrivateKey(key.getPrivatePEM())
  const signer = (data: string | Buffer, digest?: string): Buffer =>
    sign(digest ?? digests.get(key.type) ?? null, Buffer.from(data), secret)
  return Object.assign(key, { sign: signer })
}
