/** A public key blob of this type, as different from others as its seed. It need not be a point on any curve. */
export const fakeBlob = (type: string, seed: number): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  const bodyLength = Buffer.alloc(4)
  bodyLength.writeUInt32BE(32)
  return Buffer.concat([length, Buffer.from(type), bodyLength, Buffer.alloc(32, seed)])
}

export const knownHostsEntry = (hosts: string, blob: Buffer, type = 'ssh-ed25519'): string =>
  `${hosts} ${type} ${blob.toString('base64')}\n`
