import { createSecretKey } from 'node:crypto'
import type { Client } from 'ssh2'

/** Where ssh2 1.17 keeps the keys of AES-GCM without its native addon. Elsewhere there are no such fields, and nothing is done. */
interface Internals {
  readonly _protocol?: { readonly _cipher?: Keyed; readonly _decipher?: Keyed }
}
type Keyed = Record<'_encKey' | '_decipherKey', unknown>

/**
 * ssh2 hands Node the bytes of the key for every packet, and Node makes a key of them every time, which takes longer than
 * to encrypt a small packet. To be called after each key exchange.
 */
export const keepCipherKeys = (client: Client): void => {
  const { _protocol: protocol } = client as unknown as Internals
  keep(protocol?._cipher, '_encKey')
  keep(protocol?._decipher, '_decipherKey')
}

const keep = (holder: Keyed | undefined, field: keyof Keyed): void => {
  const key = holder?.[field]
  if (holder !== undefined && key instanceof Uint8Array) holder[field] = createSecretKey(key)
}
