import { keyTypeOf } from '../host-keys/host-key.ts'

export interface PublicKey {
  readonly type: string
  readonly blob: Buffer
}

/** The key in a line of a `.pub` file; null where it is none. */
export const readPublicKey = (text: string): PublicKey | null => {
  const [, type, base64 = ''] = /^\s*([a-z0-9][a-z0-9@.-]*) +([A-Za-z0-9+/]+={0,2})(?:\s|$)/.exec(text) ?? []
  if (type === undefined) return null
  const blob = Buffer.from(base64, 'base64')
  return keyTypeOf(blob) === type ? { type, blob } : null
}

/** A key that a piece of hardware holds; its file is only a handle to it. */
export const isSecurityKeyType = (type: string): boolean => type.startsWith('sk-')
