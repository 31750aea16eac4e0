import { readFileSync } from 'node:fs'
import { readKeyEnvelope } from '../login/key-file.ts'

/** Strongest first. Keys of hardware tokens are not among them: ssh-agent offers those. */
const names = ['id_ed25519', 'id_ecdsa', 'id_rsa'] as const

export interface DefaultKeys {
  readonly open: readonly string[]
  /** Encrypted ones too, for hosts that are offered nothing else. */
  readonly all: readonly string[]
}

/**
 * The keys that ssh tries where nothing names one. They only might be meant, so one that is not there or cannot be
 * opened is no fault, and ssh-agent offers what it holds by itself. `opens`: there is a passphrase.
 */
export const findDefaultKeys = (home: string, { opens }: { readonly opens: boolean }): DefaultKeys => {
  const found = names
    .map((name) => `${home}/.ssh/${name}`)
    .map((file) => ({ file, text: readIfThere(file) }))
    .filter(({ text }) => text.includes('PRIVATE KEY'))
  return {
    open: found.filter(({ text }) => opens || !readKeyEnvelope(text).isEncrypted).map(({ file }) => file),
    all: found.map(({ file }) => file),
  }
}

const readIfThere = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
