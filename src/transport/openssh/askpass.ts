import { accessSync, chmodSync, constants, copyFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Answers a question of ssh; undefined: it gets no answer, and goes on without one. */
export type Answerer = (prompt: string) => Promise<string | undefined>

/** What ssh asks goes through askpass.sh to here; each connection has a ticket of its own. */
export interface Askpass {
  readonly program: string
  readonly socket: string
  expect(ticket: string, answerer: Answerer): void
  forget(ticket: string): void
  close(): void
}

const maxQuestion = 64 * 1024

export const startAskpass = async (folder: string): Promise<Askpass> => {
  const socket = join(folder, 'ask')
  const answerers = new Map<string, Answerer>()
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    let text = ''
    client.on('error', () => undefined)
    client.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (text.length > maxQuestion) client.destroy()
    })
    client.on('end', async () => {
      const [ticket, prompt] = questionIn(text)
      const answer = await answerers
        .get(ticket)?.(prompt)
        .catch(() => undefined)
      client.end(answer === undefined ? '' : `${answer}\n`)
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve))
  chmodSync(socket, 0o600)
  server.unref()
  return {
    program: programIn(folder),
    socket,
    expect: (ticket, answerer) => void answerers.set(ticket, answerer),
    forget: (ticket) => void answerers.delete(ticket),
    close: () => void server.close(),
  }
}

const questionIn = (text: string): [ticket: string, prompt: string] => {
  try {
    const [ticket, prompt] = JSON.parse(text) as unknown[]
    return [String(ticket), String(prompt)]
  } catch {
    return ['', '']
  }
}

/** A copy that can be run whatever became of the file's mode; the file itself where the folder allows no programs. */
const programIn = (folder: string): string => {
  const source = fileURLToPath(new URL('./askpass.sh', import.meta.url))
  const copy = join(folder, 'askpass')
  copyFileSync(source, copy)
  chmodSync(copy, 0o700)
  try {
    accessSync(copy, constants.X_OK)
    return copy
  } catch {
    return source
  }
}
