import { readFile } from 'node:fs/promises'
import type { ParsedKey } from 'ssh2'
import type { InputFault } from '../errors.ts'
import { InputError } from '../errors.ts'
import { readKeyEnvelope } from './key-file.ts'
import { parsePrivateKey } from './private-key.ts'

/** Asked once for each encrypted file; undefined: there is none. */
export type PassphraseProvider = (file: string) => string | undefined | Promise<string | undefined>

export interface LoadedKey {
  readonly file: string
  /** `agent`: the file is encrypted and stays closed; ssh-agent holds its key. */
  readonly via: 'file' | 'agent'
  readonly key: ParsedKey
}

/** Each file is read and opened once per cache, so each passphrase is asked for and each bcrypt paid once. */
export type KeyCache = Map<string, Promise<LoadedKey | InputFault>>

export interface LoadKeysOptions {
  readonly cache?: KeyCache
  /** What ssh-agent holds: it may stand in for an encrypted file. */
  readonly agentKeys?: readonly ParsedKey[]
}

/** The keys in these files, in their order. Rejects with `key-unusable`, naming every file that is of no use. */
export const loadKeys = async (
  files: readonly string[],
  passphrase: PassphraseProvider,
  { cache = new Map(), agentKeys = [] }: LoadKeysOptions = {},
): Promise<LoadedKey[]> => {
  const results = await Promise.all(
    files.map((file) => {
      const loading = cache.get(file) ?? loadKey(file, passphrase, agentKeys)
      cache.set(file, loading)
      return loading
    }),
  )
  const faults = results.filter((result) => 'message' in result)
  if (faults.length > 0) throw new InputError('key-unusable', faults)
  return results.filter((result) => 'key' in result)
}

const loadKey = async (
  file: string,
  passphrase: PassphraseProvider,
  agentKeys: readonly ParsedKey[],
): Promise<LoadedKey | InputFault> => {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    return {
      file,
      message: `the private key cannot be read: ${reason}`,
      remedy: 'Correct the path, or its permissions.',
    }
  }
  const { isEncrypted, publicBlob } = readKeyEnvelope(text)
  if (isEncrypted && publicBlob !== null) {
    const held = agentKeys.find((key) => key.getPublicSSH().equals(publicBlob))
    if (held !== undefined) return { file, via: 'agent', key: held }
  }
  const secret = isEncrypted ? await passphrase(file) : undefined
  if (isEncrypted && secret === undefined) return encryptedFault(file, 'the private key is encrypted')
  const key = parsePrivateKey(text, secret)
  if (!(key instanceof Error)) return { file, via: 'file', key }
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
