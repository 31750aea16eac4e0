import { createHash } from 'node:crypto'

/** The key type a public key blob names in its first field; empty if it is no such blob. */
export const keyTypeOf = (blob: Buffer): string => {
  if (blob.length < 4) return ''
  const length = blob.readUInt32BE(0)
  return length > blob.length - 4 ? '' : blob.toString('latin1', 4, 4 + length)
}

/** As `ssh-keygen -l` prints it. */
export const fingerprintOf = (blob: Buffer): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
