import { connect, type Socket } from 'node:net'
import { FieldReader, MessageReader, uint32 } from './mux-wire.ts'

// Messages of the control socket (PROTOCOL.mux in OpenSSH's source).
const hello = 0x00000001
const aliveCheck = 0x10000004
const proxy = 0x1000000f
const alive = 0x80000005
const proxied = 0x8000000f
const version = 4

/** A control socket that carries SSH messages now. `rest`: those that came right behind the answer. */
export interface ProxySocket {
  readonly socket: Socket
  readonly reader: MessageReader
  readonly rest: readonly Buffer[]
}

export const frame = (...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([uint32(body.length), body])
}

/**
 * Makes the master pass on channels of ours as they are (`ssh -O proxy`, OpenSSH 7.4): no process for each command, and
 * nothing that the server says of a command is lost.
 */
export const openProxy = (path: string, deadlineMs: number): Promise<ProxySocket> =>
  ask(path, { deadlineMs, question: proxy, answer: proxied })

/** Whether the master behind the socket still does its work (`ssh -O check`). */
export const isMasterAlive = (path: string, deadlineMs: number): Promise<boolean> =>
  ask(path, { deadlineMs, question: aliveCheck, answer: alive }).then(
    ({ socket }) => {
      socket.destroy()
      return true
    },
    () => false,
  )

interface Exchange {
  readonly deadlineMs: number
  readonly question: number
  readonly answer: number
}

const ask = (path: string, { deadlineMs, question, answer }: Exchange): Promise<ProxySocket> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    const reader = new MessageReader()
    const fail = (why: string): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(new Error(why))
    }
    const timer = setTimeout(() => fail(`no answer within ${deadlineMs} ms`), deadlineMs)
    let isGreeted = false
    const onData = (chunk: Buffer): void => {
      const messages = reader.push(chunk)
      for (const [index, message] of messages.entries()) {
        const type = new FieldReader(message).uint32()
        if (type === hello && !isGreeted) {
          isGreeted = true
          socket.write(frame(uint32(question), uint32(0)))
        } else if (type === answer) {
          clearTimeout(timer)
          socket.off('data', onData).pause()
          resolve({ socket, reader, rest: messages.slice(index + 1) })
          return
        } else fail(`an answer of another kind (${type.toString(16)})`)
      }
    }
    socket.on('error', (error) => fail(error.message))
    socket.on('close', () => fail('it hung up'))
    socket.on('data', onData)
    socket.write(frame(uint32(hello), uint32(version)))
  })
