import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { frame } from '../../src/transport/openssh/control-socket.ts'
import { MuxChannel, message, windowBytes } from '../../src/transport/openssh/mux-channel.ts'
import { FieldReader, MessageReader, string, uint32 } from '../../src/transport/openssh/mux-wire.ts'

test('messages come out as they went in, however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }),
      fc.array(fc.nat(40)),
      (bodies, cuts) => {
        const stream = Buffer.concat(bodies.map((body) => frame(body)))
        const reader = new MessageReader()
        const out: Buffer[] = []
        let at = 0
        for (const cut of [...cuts, stream.length]) {
          out.push(...reader.push(stream.subarray(at, at + cut)))
          at = Math.min(stream.length, at + cut)
        }
        expect(out.map((body) => [...body])).toEqual(bodies.map((body) => [...body]))
      },
    ),
  )
})

test('a message without measure is refused, and a field that reaches past its end', () => {
  expect(() => new MessageReader().push(uint32(0xffffffff))).toThrow(RangeError)
  expect(() => new FieldReader(Buffer.concat([uint32(9), Buffer.from('short')])).bytes()).toThrow(RangeError)
  expect(() => new FieldReader(Buffer.alloc(3)).uint32()).toThrow(RangeError)
})

const opened = (window = windowBytes) => {
  const sent: { type: number; fields: FieldReader }[] = []
  const held: (() => void)[] = []
  const channel = new MuxChannel({
    send: (type, ...parts) => void sent.push({ type, fields: new FieldReader(Buffer.concat(parts)) }),
    whenSent: (callback) => void held.push(callback),
    onOver: () => undefined,
  })
  channel.confirm(7, window, 32_768)
  const receive = (type: number, ...parts: readonly Uint8Array[]): void =>
    channel.receive(type, new FieldReader(Buffer.concat(parts)))
  return { channel, sent, held, receive, types: () => sent.map(({ type }) => type) }
}

describe('a channel', () => {
  test('sends no more than the far side takes, and goes on when it takes more', () => {
    const { channel, sent, receive } = opened(10)
    channel.write('0123456789abcdef')
    expect(sent.map(({ fields }) => [fields.uint32(), fields.string()])).toEqual([[7, '0123456789']])
    receive(message.windowAdjust, uint32(100))
    expect(sent.slice(1).map(({ fields }) => [fields.uint32(), fields.string()])).toEqual([[7, 'abcdef']])
  })

  test('lets the far side go on only when both streams were read', async () => {
    const { channel, receive, types } = opened()
    const piece = string(Buffer.alloc(32_768))
    for (let index = 0; index < 20; index += 1) receive(message.extendedData, uint32(1), piece)
    expect(types()).toEqual([])
    channel.on('data', () => undefined)
    channel.stderr.on('data', () => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    expect(types()).toEqual([message.windowAdjust])
  })

  test('tells of its status at once, and of its end when all was read', async () => {
    const { channel, receive, types } = opened()
    const told: unknown[] = []
    channel.on('exit', (code, signal) => told.push(['exit', code, signal]))
    channel.on('close', () => told.push('close'))
    receive(message.request, string('exit-status'), Buffer.from([0]), uint32(3))
    expect(told).toEqual([['exit', 3, undefined]])
    receive(message.data, string('last words'))
    receive(message.close)
    await new Promise((resolve) => setImmediate(resolve))
    expect(told).toHaveLength(1)
    channel.on('data', (text) => told.push(String(text)))
    channel.stderr.resume()
    await new Promise((resolve) => setImmediate(resolve))
    expect(told.slice(1)).toEqual(['last words', 'close'])
    expect(types()).toEqual([message.close])
  })

  test('names the signal that ended its command', () => {
    const { channel, receive } = opened()
    const told: unknown[] = []
    channel.on('exit', (...args) => told.push(args))
    receive(message.request, string('exit-signal'), Buffer.from([0]), string('KILL'))
    expect(told).toEqual([[null, 'SIGKILL']])
  })

  test('answers what it does not know, or servers that ask whether we live hang up', () => {
    const { receive, types } = opened()
    receive(message.request, string('keepalive@openssh.com'), Buffer.from([1]))
    expect(types()).toEqual([message.failure])
  })

  test('that is over holds up nobody who writes', async () => {
    const { channel, receive } = opened(0)
    const written = new Promise<void>((resolve) => channel.write('never read', () => resolve()))
    receive(message.close)
    await written
    await new Promise<void>((resolve) => channel.write('later', () => resolve()))
  })
})
