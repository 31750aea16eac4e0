import { readFile } from 'node:fs/promises'
import type { InputFault } from '../../errors.ts'

const begin = '-----BEGIN OPENSSH PRIVATE KEY-----'
const end = '-----END OPENSSH PRIVATE KEY-----'
const magic = Buffer.from('openssh-key-v1\0')

export interface KeyFileEnvelope {
  readonly isEncrypted: boolean
  /** The public half, which OpenSSH's own format shows even when the rest is encrypted. */
  readonly publicBlob: Buffer | null
}

/** What a private key file says about itself without being opened. */
export const readKeyEnvelope = (text: string): KeyFileEnvelope => {
  const trimmed = text.trim()
  if (trimmed.startsWith(begin) && trimmed.endsWith(end)) {
    const bytes = Buffer.from(trimmed.slice(begin.length, -end.length), 'base64')
    const fields = bytes.subarray(0, magic.length).equals(magic) ? readEnvelopeFields(bytes, magic.length) : null
    if (fields !== null) return { isEncrypted: fields.cipher !== 'none', publicBlob: fields.publicBlob }
  }
  const isEncrypted = /^Proc-Type: 4,ENCRYPTED|^-----BEGIN ENCRYPTED PRIVATE KEY|^Encryption: (?!none)/m.test(trimmed)
  return { isEncrypted, publicBlob: null }
}

const readEnvelopeFields = (bytes: Buffer, start: number): { cipher: string; publicBlob: Buffer } | null => {
  let at = start
  const field = (): Buffer => {
    const length = bytes.readUInt32BE(at)
    at += 4 + length
    if (at > bytes.length) throw new RangeError('a field reaches past the end')
    return bytes.subarray(at - length, at)
  }
  try {
    const cipher = field().toString('latin1')
    field() // the key derivation's name
    field() // and its options
    at += 4 // the number of keys, which is always one
    return { cipher, publicBlob: field() }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** The text of a key file, or why there is none. */
export const readKeyText = async (file: string): Promise<string | InputFault> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    return {
      file,
      message: `the ${file.endsWith('.pub') ? 'public' : 'private'} key cannot be read: ${reason}`,
      remedy: 'Correct the path, or its permissions.',
    }
  }
}
