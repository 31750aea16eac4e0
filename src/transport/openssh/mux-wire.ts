/** Fields of SSH messages (RFC 4251, 5), which OpenSSH's control socket uses as well. */

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

export const string = (value: string | Uint8Array): Buffer => {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([uint32(bytes.length), bytes])
}

/** Reads fields one after another; what is cut short throws a RangeError. */
export class FieldReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  uint32(): number {
    const value = this.#bytes.readUInt32BE(this.#at)
    this.#at += 4
    return value
  }

  boolean(): boolean {
    const value = this.#bytes.readUInt8(this.#at) !== 0
    this.#at += 1
    return value
  }

  bytes(): Buffer {
    const length = this.uint32()
    if (this.#at + length > this.#bytes.length) throw new RangeError('a field reaches past the end of its message')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  string(): string {
    return this.bytes().toString()
  }
}

// The largest message of a channel is our own limit for one piece of data and some fields.
const maxMessage = 256 * 1024

/** Cuts a stream of length-prefixed messages into those that are complete. */
export class MessageReader {
  #pieces: Buffer[] = []
  #length = 0

  push(chunk: Buffer): Buffer[] {
    this.#pieces.push(chunk)
    this.#length += chunk.length
    if (this.#length < 4) return []
    let bytes = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces)
    const messages: Buffer[] = []
    while (bytes.length >= 4) {
      const length = bytes.readUInt32BE(0)
      if (length > maxMessage) throw new RangeError(`a message of ${length} bytes`)
      if (bytes.length < 4 + length) break
      messages.push(bytes.subarray(4, 4 + length))
      bytes = bytes.subarray(4 + length)
    }
    this.#pieces = bytes.length === 0 ? [] : [bytes]
    this.#length = bytes.length
    return messages
  }
}
