import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import type { ChannelError, SessionChannel, SessionClient } from '../session/session-client.ts'
import type { ProxySocket } from './control-socket.ts'
import { frame } from './control-socket.ts'
import { MuxChannel, message, packetBytes, windowBytes } from './mux-channel.ts'
import { FieldReader, string, uint32 } from './mux-wire.ts'

type Opened = (error: ChannelError | undefined, channel: MuxChannel) => void

interface Entry {
  readonly channel: MuxChannel
  /** Told once: when the channel stands, or why it does not. */
  opened: Opened | undefined
  /** Of our requests, in the order of their answers; undefined: granted. */
  readonly answers: ((refusal: Error | undefined) => void)[]
}

/** Channels over the connection of an ssh process, spoken to through its control socket. */
export class MuxClient extends EventEmitter implements SessionClient {
  readonly #socket: ProxySocket['socket']
  readonly #channels = new Map<number, Entry>()
  readonly #end: (isForced: boolean) => void
  #nextId = 0
  #isLost = false
  #unsent: (() => void)[] = []

  /** `end` ends the ssh process itself. */
  constructor({ socket, reader, rest }: ProxySocket, end: (isForced: boolean) => void) {
    super()
    // A connection listens; a jump host's has nobody to listen.
    this.on('error', () => undefined)
    this.#socket = socket
    this.#end = end
    socket.on('drain', () => {
      for (const callback of this.#unsent.splice(0)) callback()
    })
    const take = (messages: readonly Buffer[]): void => {
      for (const each of messages) this.#receive(each)
    }
    socket.on('data', (chunk: Buffer) => {
      try {
        take(reader.push(chunk))
      } catch (error) {
        this.emit('error', error)
        socket.destroy()
      }
    })
    take(rest)
    socket.resume()
  }

  exec(command: string, callback: (error: ChannelError | undefined, channel: SessionChannel) => void): void {
    const entry = this.#open('session', [], (error, channel) => {
      if (error !== undefined) return callback(error, channel)
      entry.answers.push((refusal) => {
        if (refusal !== undefined) channel.close()
        callback(refusal, channel)
      })
      channel.request('exec', string(command))
    })
  }

  forwardOut(
    fromAddress: string,
    fromPort: number,
    toAddress: string,
    toPort: number,
    callback: (error: ChannelError | undefined, channel: Duplex) => void,
  ): void {
    const fields = [string(toAddress), uint32(toPort), string(fromAddress), uint32(fromPort)]
    this.#open('direct-tcpip', fields, callback)
  }

  end(): void {
    this.#end(false)
  }

  destroy(): void {
    this.#end(true)
  }

  /** The ssh process is gone, and all channels with it. */
  lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#socket.destroy()
    for (const entry of [...this.#channels.values()]) {
      const { opened, answers, channel } = entry
      entry.opened = undefined
      opened?.(new Error(noResponse), channel)
      for (const answer of answers.splice(0)) answer(new Error(noResponse))
      channel.over()
    }
    for (const callback of this.#unsent.splice(0)) callback()
  }

  #open(type: string, fields: readonly Uint8Array[], opened: Opened): Entry {
    if (this.#isLost || this.#socket.destroyed) throw new Error('Not connected')
    const id = this.#nextId
    this.#nextId += 1
    const channel = new MuxChannel({
      send: (type, ...parts) => this.#send(type, ...parts),
      whenSent: (callback) => void (this.#socket.writableNeedDrain ? this.#unsent.push(callback) : callback()),
      onOver: () => {
        this.#channels.delete(id)
        for (const answer of entry.answers.splice(0)) answer(refused())
      },
    })
    const entry: Entry = { channel, opened, answers: [] }
    this.#channels.set(id, entry)
    this.#send(message.open, string(type), uint32(id), uint32(windowBytes), uint32(packetBytes), ...fields)
    return entry
  }

  #send(type: number, ...parts: readonly Uint8Array[]): void {
    // The first byte is the length of a padding that there is none of.
    if (!this.#socket.destroyed) this.#socket.write(frame(Buffer.from([0, type]), ...parts))
  }

  #receive(bytes: Buffer): void {
    const type = bytes.readUInt8(1)
    if (type < message.openConfirmation || type > message.failure) return
    const fields = new FieldReader(bytes.subarray(2))
    const entry = this.#channels.get(fields.uint32())
    if (entry === undefined) return
    const { channel, opened } = entry
    if (type === message.openConfirmation) {
      channel.confirm(fields.uint32(), fields.uint32(), fields.uint32())
      entry.opened = undefined
      opened?.(undefined, channel)
    } else if (type === message.openFailure) {
      const reason = fields.uint32()
      const error = Object.assign(new Error(fields.string()), { reason })
      entry.opened = undefined
      channel.over()
      opened?.(error, channel)
    } else if (type === message.success || type === message.failure) {
      entry.answers.shift()?.(type === message.success ? undefined : refused())
    } else {
      channel.receive(type, fields)
    }
  }
}

const refused = (): Error => new Error('it refuses the command')

/** The words by which open-channel.ts knows that nobody answered. */
const noResponse = 'No response from server'
