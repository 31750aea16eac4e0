// The lab's client key, and the known_hosts file that says which hosts are ours.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ClientKey {
  /** The private key's file, mode 0600. */
  file: string
  /** The line for authorized_keys. */
  authorizedLine: string
}

/** A fresh ed25519 pair in the folder, or the pair made there before: a lab that was brought up earlier keeps its key. */
export function ensureClientKey(folder: string): ClientKey {
  const file = join(folder, 'id_ed25519')
  if (!existsSync(file)) {
    const pair = newKeyPair()
    writeFileSync(`${file}.pub`, `${pair.authorizedLine}\n`, { mode: 0o644 })
    writeFileSync(file, pair.privateKey, { mode: 0o600, flag: 'wx' })
  }
  return { file, authorizedLine: readFileSync(`${file}.pub`, 'utf8').trim() }
}

const TYPE = 'ssh-ed25519'
const COMMENT = 'drover-lab'

/**
 * Made here rather than by ssh-keygen, which need not be on this machine, or by ssh2 1.17, whose generateKeyPairSync loses a byte of
 * some ed25519 keys and writes files that nothing can read.
 */
function newKeyPair(): { privateKey: string; authorizedLine: string } {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const publicKey = Buffer.from(jwk.x as string, 'base64url')
  const seed = Buffer.from(jwk.d as string, 'base64url')
  const publicBlob = Buffer.concat([field(TYPE), field(publicKey)])
  return {
    privateKey: openSshFile(publicBlob, publicKey, seed),
    authorizedLine: `${TYPE} ${publicBlob.toString('base64')} ${COMMENT}`,
  }
}

/** OpenSSH's own private key format (PROTOCOL.key of its sources), not encrypted. */
function openSshFile(publicBlob: Buffer, publicKey: Buffer, seed: Buffer): string {
  const check = randomBytes(4) // the same number twice, by which a reader of an encrypted file knows that its password was right
  const secret = Buffer.concat([
    check,
    check,
    field(TYPE),
    field(publicKey),
    field(Buffer.concat([seed, publicKey])),
    field(COMMENT),
  ])
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (secret.length % 8)) % 8))
  const one = Buffer.from([0, 0, 0, 1])
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'),
    field('none'),
    field(''),
    one,
    field(publicBlob),
    field(Buffer.concat([secret, padding])),
  ])
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? []
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`
}

/** A string of the SSH wire format: its length, then its bytes. */
function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

export interface KnownHost {
  address: string
  /** Lines of the host's /etc/ssh/*.pub: type, key, comment. */
  publicKeys: readonly string[]
}

/** A known_hosts file of exactly these hosts. Their keys come from inside the containers, so nobody on the network can slip one in. */
export function knownHostsText(hosts: readonly KnownHost[]): string {
  const lines = hosts.flatMap(({ address, publicKeys }) =>
    publicKeys.map((line) => `${address} ${line.split(' ').slice(0, 2).join(' ')}`),
  )
  return `${lines.join('\n')}\n`
}
