const newline = 0x0a
const empty = Buffer.alloc(0)

/**
 * Takes one output stream piece by piece and tells our script's output from what stands before the begin mark
 * (shell profiles, sudo) and after the end mark. What it yields does not depend on where the pieces are cut.
 */
export class FrameReader {
  readonly #begin: Buffer
  readonly #end: Buffer
  #state: 'before' | 'body' | 'trailer' | 'after' = 'before'
  /** Bytes that cannot be judged yet: they may be the start of a mark. */
  #held: Buffer = empty
  readonly #noise: Buffer[] = []
  #code: number | null = null

  constructor(token: string) {
    this.#begin = Buffer.from(`\x1eB ${token}\n`)
    this.#end = Buffer.from(`\x1eE ${token}`)
  }

  get hasBegun(): boolean {
    return this.#state !== 'before'
  }

  get hasEnded(): boolean {
    return this.#state === 'after'
  }

  /** The exit code in the trailer; the one on standard error carries none. */
  get code(): number | null {
    return this.#code
  }

  get noise(): Buffer {
    return Buffer.concat(this.#state === 'before' ? [...this.#noise, this.#held] : this.#noise)
  }

  /** The part of the script's output that is certain now. */
  push(chunk: Uint8Array): Buffer {
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    this.#held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece])
    if (this.#state === 'before' && this.#takeUpTo(this.#begin, (noise) => this.#noise.push(noise)))
      this.#state = 'body'
    let body: Buffer = empty
    if (this.#state === 'body' && this.#takeUpTo(this.#end, (bytes) => (body = bytes))) this.#state = 'trailer'
    if (this.#state === 'trailer') this.#takeTrailer()
    if (this.#state === 'after') this.#held = empty
    return body
  }

  /** Output held back as a possible end mark; ask at the end of a stream that was cut. */
  rest(): Buffer {
    return this.#state === 'body' ? this.#held : empty
  }

  /** Hands over what certainly stands before the mark; true if the mark was there. */
  #takeUpTo(mark: Buffer, take: (bytes: Buffer) => void): boolean {
    const bytes = this.#held
    const at = bytes.indexOf(mark)
    const length = at < 0 ? bytes.length - partialLength(bytes, mark) : at
    this.#held = bytes.subarray(at < 0 ? length : at + mark.length)
    if (length > 0) take(bytes.subarray(0, length))
    return at >= 0
  }

  #takeTrailer(): void {
    const at = this.#held.indexOf(newline)
    if (at < 0) return
    const code = this.#held.subarray(0, at).toString().trim()
    this.#code = code === '' ? null : Number(code)
    this.#state = 'after'
  }
}

/** How many bytes at the end of `bytes` could be the start of `mark`. */
const partialLength = (bytes: Buffer, mark: Buffer): number => {
  for (let length = Math.min(bytes.length, mark.length - 1); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length
  }
  return 0
}
