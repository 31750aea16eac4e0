import { stat } from 'node:fs/promises'
import type { InputFault } from '../../errors.ts'
import { readKeyEnvelope, readKeyText } from '../login/key-file.ts'
import type { PassphraseProvider } from '../login/keys.ts'
import { readPublicKey } from '../login/public-key-file.ts'

/** What a login with this key file takes. `asks`: a passphrase, which there is. */
export type KeyNeed = 'nothing' | 'asks' | InputFault

export interface KeyNeedOptions {
  readonly passphrase: PassphraseProvider
  /** Blobs of what ssh-agent holds: it may stand in for an encrypted file. */
  readonly held: readonly Buffer[]
}

/** Looks at a key file as ssh will, so that what is wrong with it is known before any host is touched. */
export const keyNeed = async (file: string, { passphrase, held }: KeyNeedOptions): Promise<KeyNeed> => {
  const text = await readKeyText(file)
  if (typeof text !== 'string') return text
  if (readPublicKey(text) !== null) return 'nothing'
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    return { file, message: 'this is no private key', remedy: 'Name the file of a private key.' }
  }
  const { isEncrypted, publicBlob } = readKeyEnvelope(text)
  if (publicBlob !== null && held.some((blob) => blob.equals(publicBlob))) return 'nothing'
  const { mode, uid } = await stat(file)
  // ssh's own rule; it says so only in the middle of a login.
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) {
    return { file, message: 'ssh does not use a private key that others may read', remedy: `chmod 600 ${file}` }
  }
  if (!isEncrypted) return 'nothing'
  if ((await passphrase(file)) !== undefined) return 'asks'
  return {
    file,
    message: 'the private key is encrypted',
    remedy: `Load it into ssh-agent (ssh-add ${file}), or give its passphrase in DROVER_KEY_PASSPHRASE.`,
  }
}
