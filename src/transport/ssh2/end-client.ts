import type { OpenedClient } from './ssh2-client.ts'

const graceMs = 2_000

/**
 * Takes leave of the server, and of one that does not answer without its consent. By the socket: ssh2's `destroy` does
 * nothing after its `end`. Over when the time is, closed or not: a way through a dead jump host tells of no end.
 */
export const endClient = ({ client, socket, closed }: OpenedClient): Promise<void> => {
  if (closed.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      socket.destroy()
      resolve()
    }, graceMs)
    closed.addEventListener('abort', end, { once: true })
    client.end()
  })
}
