import { readFile } from 'node:fs/promises'
import type { ParsedKey } from 'ssh2'
import type { InputFault } from '../../errors.ts'
import { InputError } from '../../errors.ts'
import { keyTypeOf } from '../host-keys/host-key.ts'
import type { AgentIdentity } from './agent.ts'
import { readKeyEnvelope, readKeyText } from './key-file.ts'
import { parsePrivateKey } from './private-key.ts'
import { isSecurityKeyType, readPublicKey } from './public-key-file.ts'

/** Asked once for each encrypted file; undefined: there is none. */
export type PassphraseProvider = (file: string) => string | undefined | Promise<string | undefined>

/** A configured identity. */
export type LoadedKey =
  | { readonly file: string; readonly via: 'file'; readonly blob: Buffer; readonly key: ParsedKey }
  /** The file is encrypted and stays closed, or is a public key, or that of a security key: ssh-agent signs. */
  | { readonly file: string; readonly via: 'agent'; readonly blob: Buffer; readonly identity: AgentIdentity }

/** Each file is read and opened once per cache, so each passphrase is asked for and each bcrypt paid once. */
export type KeyCache = Map<string, Promise<LoadedKey | InputFault>>

export interface LoadKeysOptions {
  readonly cache?: KeyCache
  /** What ssh-agent holds: it may stand in for a file. */
  readonly agentKeys?: readonly AgentIdentity[]
}

/** The keys in these files, in their order. Rejects with `key-unusable`, naming every file that is of no use. */
export const loadKeys = async (
  files: readonly string[],
  passphrase: PassphraseProvider,
  { cache = new Map(), agentKeys = [] }: LoadKeysOptions = {},
): Promise<LoadedKey[]> => {
  const socket = agentKeys[0]?.socket
  const results = await Promise.all(
    files.map((file) => {
      const name = socket === undefined ? file : `${file}\0${socket}`
      const loading = cache.get(name) ?? loadKey(file, passphrase, agentKeys)
      cache.set(name, loading)
      return loading
    }),
  )
  const faults = results.filter((result) => 'message' in result)
  if (faults.length > 0) throw new InputError('key-unusable', faults)
  return results.filter((result) => 'via' in result)
}

const loadKey = async (
  file: string,
  passphrase: PassphraseProvider,
  agentKeys: readonly AgentIdentity[],
): Promise<LoadedKey | InputFault> => {
  const text = await readKeyText(file)
  if (typeof text !== 'string') return text
  const byAgent = (blob: Buffer): LoadedKey | undefined => {
    const identity = agentKeys.find((held) => held.blob.equals(blob))
    return identity && { file, via: 'agent', blob, identity }
  }
  const publicKey = readPublicKey(text)
  if (publicKey !== null) return byAgent(publicKey.blob) ?? notHeld(file)
  const { isEncrypted, publicBlob } = readKeyEnvelope(text)
  const isSecurityKey = publicBlob !== null && isSecurityKeyType(keyTypeOf(publicBlob))
  if (publicBlob !== null && (isEncrypted || isSecurityKey)) {
    const held = byAgent(publicBlob)
    if (held !== undefined) return held
  }
  if (isSecurityKey) return securityKeyFault(file)
  const secret = isEncrypted ? await passphrase(file) : undefined
  if (isEncrypted && secret === undefined) return encryptedFault(file, 'the private key is encrypted')
  const key = parsePrivateKey(text, secret)
  if (!(key instanceof Error)) return { file, via: 'file', blob: key.getPublicSSH(), key }
  if (isEncrypted)
    return encryptedFault(file, `the private key does not open with the given passphrase: ${key.message}`)
  return {
    file,
    message: `this is no private key that drover can use: ${key.message}`,
    remedy: 'Use an ed25519, ECDSA or RSA key in the format of OpenSSH; `ssh-keygen -p -f FILE` converts others.',
  }
}

const encryptedFault = (file: string, message: string): InputFault => ({
  file,
  message,
  remedy: `Load it into ssh-agent (ssh-add ${file}), or give its passphrase in DROVER_KEY_PASSPHRASE.`,
})

const notHeld = (file: string): InputFault => ({
  file,
  message: 'this is a public key, and ssh-agent does not hold the private one',
  remedy: 'Load the private key into ssh-agent (ssh-add), or name its file instead.',
})

const securityKeyFault = (file: string): InputFault => ({
  file,
  message: 'this key is in a security key (FIDO), and ssh-agent does not hold it',
  remedy: `Load it into ssh-agent (ssh-add ${file}), or let OpenSSH connect: --transport openssh.`,
})

/** Which of these identities only OpenSSH can use: security keys that ssh-agent does not hold. */
export const needsOpenSsh = async (
  files: readonly string[],
  agentKeys: readonly Pick<AgentIdentity, 'blob'>[],
): Promise<string[]> => {
  const found = await Promise.all(
    files.map(async (file) => {
      const { publicBlob } = readKeyEnvelope(await readFile(file, 'utf8').catch(() => ''))
      if (publicBlob === null || !isSecurityKeyType(keyTypeOf(publicBlob))) return undefined
      return agentKeys.some(({ blob }) => blob.equals(publicBlob)) ? undefined : `${file} is that of a security key`
    }),
  )
  return found.filter((reason) => reason !== undefined)
}
