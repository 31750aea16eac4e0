import { Duplex, Readable } from 'node:stream'
import type { SessionChannel } from '../session/session-client.ts'
import { type FieldReader, uint32, string as wireString } from './mux-wire.ts'

/** How the channel speaks to the far side. */
export interface ChannelLink {
  send(type: number, ...parts: readonly Uint8Array[]): void
  /** Calls back once what was sent has left this process. */
  whenSent(callback: () => void): void
  /** The channel is over and its number is free. */
  onOver(): void
}

// Message numbers of RFC 4254.
export const message = {
  open: 90,
  openConfirmation: 91,
  openFailure: 92,
  windowAdjust: 93,
  data: 94,
  extendedData: 95,
  eof: 96,
  close: 97,
  request: 98,
  success: 99,
  failure: 100,
} as const

/** As much as the far side may send before it is told that it was read: enough for a link with a long way. */
export const windowBytes = 2 * 1024 * 1024
export const packetBytes = 32 * 1024

/** A channel over the connection of an ssh process. */
export class MuxChannel extends Duplex implements SessionChannel {
  readonly stderr: Readable
  readonly #link: ChannelLink
  #remoteId = 0
  #window = 0
  #maxPacket = packetBytes
  #unacknowledged = 0
  readonly #full = new Set<Readable>()
  #outgoing: { bytes: Uint8Array; done: () => void } | undefined
  #hasClosed = false
  #isOver = false
  #isEnded = false

  constructor(link: ChannelLink) {
    // `close` is told by hand: when the far side has closed the channel and all of both streams was read.
    super({ allowHalfOpen: true, autoDestroy: false, emitClose: false })
    this.#link = link
    this.stderr = new Readable({ autoDestroy: false, emitClose: false, read: () => this.#drained(this.stderr) })
  }

  confirm(remoteId: number, window: number, maxPacket: number): void {
    this.#remoteId = remoteId
    this.#window = window
    this.#maxPacket = Math.min(maxPacket, packetBytes)
  }

  /** A request about this channel, which the far side answers. */
  request(name: string, ...parts: readonly Uint8Array[]): void {
    this.#link.send(message.request, uint32(this.#remoteId), wireString(name), Buffer.from([1]), ...parts)
  }

  receive(type: number, fields: FieldReader): void {
    if (type === message.windowAdjust) {
      this.#window += fields.uint32()
      this.#flush()
    } else if (type === message.data) this.#deliver(this, fields.bytes())
    else if (type === message.extendedData) {
      fields.uint32()
      this.#deliver(this.stderr, fields.bytes())
    } else if (type === message.eof) this.#endStreams()
    else if (type === message.request) this.#answer(fields)
    else if (type === message.close) {
      this.close()
      this.over()
    }
  }

  close(): void {
    if (this.#hasClosed || this.#isOver) return
    this.#hasClosed = true
    this.#link.send(message.close, uint32(this.#remoteId))
  }

  /** Nothing more comes. */
  over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#link.onOver()
    this.#outgoing?.done()
    this.#outgoing = undefined
    let open = 2
    for (const stream of [this, this.stderr]) {
      const ended = (): void => {
        open -= 1
        if (open === 0) this.emit('close')
      }
      if (stream.readableEnded) ended()
      else stream.once('end', ended)
    }
    this.#endStreams()
  }

  override _read(): void {
    this.#drained(this)
  }

  override _write(bytes: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#outgoing = { bytes, done }
    if (this.#isOver || this.#hasClosed) done()
    else this.#flush()
  }

  override _final(done: () => void): void {
    if (!this.#isOver && !this.#hasClosed) this.#link.send(message.eof, uint32(this.#remoteId))
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.close()
    done(error)
  }

  #flush(): void {
    const out = this.#outgoing
    if (out === undefined) return
    while (out.bytes.length > 0 && this.#window > 0) {
      const size = Math.min(out.bytes.length, this.#window, this.#maxPacket)
      this.#link.send(message.data, uint32(this.#remoteId), uint32(size), out.bytes.subarray(0, size))
      out.bytes = out.bytes.subarray(size)
      this.#window -= size
    }
    if (out.bytes.length > 0) return
    this.#outgoing = undefined
    this.#link.whenSent(out.done)
  }

  #deliver(stream: Readable, bytes: Buffer): void {
    if (this.#isEnded) return
    this.#unacknowledged += bytes.length
    if (stream.push(bytes)) this.#acknowledge()
    else this.#full.add(stream)
  }

  #drained(stream: Readable): void {
    this.#full.delete(stream)
    this.#acknowledge()
  }

  /** Lets the far side go on. Both streams share one window. */
  #acknowledge(): void {
    if (this.#full.size > 0 || this.#unacknowledged < windowBytes / 4 || this.#hasClosed || this.#isOver) return
    this.#link.send(message.windowAdjust, uint32(this.#remoteId), uint32(this.#unacknowledged))
    this.#unacknowledged = 0
  }

  #endStreams(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.push(null)
    this.stderr.push(null)
  }

  #answer(fields: FieldReader): void {
    const name = fields.string()
    const wantsReply = fields.boolean()
    if (name === 'exit-status') this.emit('exit', fields.uint32())
    else if (name === 'exit-signal') this.emit('exit', null, `SIG${fields.string()}`)
    // Servers ask `keepalive@openssh.com` this way, and hang up on who does not answer.
    if (wantsReply && !this.#isOver) this.#link.send(message.failure, uint32(this.#remoteId))
  }
}
