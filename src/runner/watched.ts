import type { Become } from '../transport/become/become.ts'
import type { Connection, ConnectStage } from '../transport/connection.ts'
import type { StallWatch } from './stall.ts'

/** What a host is waited for with, in words that stand after "silent for 30 s in". */
export const stagePlace = (stage: ConnectStage): string => stagePlaces[stage]

const stagePlaces: Readonly<Record<ConnectStage, string>> = {
  waiting: 'connect: waiting for a turn',
  resolve: 'connect: looking up its name',
  connect: 'connect: TCP',
  handshake: 'connect: SSH handshake',
  authenticate: 'connect: login',
}

/** Before the first word of a script there is only what stands before it. */
export const openingPlace = (verb: string, become: Become | null): string =>
  `the login shell${become === null ? '' : ` or ${become.method}`}, before ${verb} began`

/** The connection, with each piece of a command's output a sign of life; of an inspect it names the section as well. */
export const watched = (connection: Connection, watch: StallWatch, verbOf: () => string): Connection => ({
  host: connection.host,
  serverVersion: connection.serverVersion,
  close: () => connection.close(),
  exec: (request) => {
    const verb = verbOf()
    const section = verb === 'inspect' || verb === 'verify' ? sectionReader() : () => null
    return connection.exec({
      ...request,
      onStdout: (chunk) => {
        watch.heard()
        const name = section(chunk)
        if (name !== null) watch.at(`${verb} section ${name}`)
        request.onStdout?.(chunk)
      },
    })
  },
})

const mark = /\x1eS ([a-z0-9]{1,20})\n/g
const longestMark = 23

/** The last section that began in this piece of an inspect's answer; its mark may have been cut in two. */
export const sectionReader = (): ((chunk: Uint8Array) => string | null) => {
  let rest = ''
  return (chunk) => {
    const text = rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    const found = [...text.matchAll(mark)].at(-1)
    rest = text.slice(Math.max(found === undefined ? 0 : found.index + found[0].length, text.length - longestMark))
    return found?.[1] ?? null
  }
}
