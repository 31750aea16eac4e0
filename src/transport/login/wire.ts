/** Reads the data types of SSH (RFC 4251, 5) in turn. Throws a RangeError where the bytes end too early. */
export class WireReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  bytes(): Buffer {
    const length = this.uint32()
    if (length > this.#bytes.length - this.#at) throw new RangeError('a field reaches past the end')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  text(): string {
    return this.bytes().toString('utf8')
  }

  uint32(): number {
    const value = this.#bytes.readUInt32BE(this.#at)
    this.#at += 4
    return value
  }

  uint64(): bigint {
    const value = this.#bytes.readBigUInt64BE(this.#at)
    this.#at += 8
    return value
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }
}

/** One `string` of SSH. */
export const wireString = (value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
