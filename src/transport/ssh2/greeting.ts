import type { Duplex } from 'node:stream'

const maxBytes = 4096

/** What the far side said in clear before the encryption: its version, and any text it put before that. */
export interface Greeting {
  /** `SSH-2.0-OpenSSH_9.2p1 ...`; empty: it never said one. */
  readonly version: string
  /** Where sshd says why it hangs up, and where a server of another kind shows itself. */
  readonly text: string
}

/** Listens beside ssh2, which keeps this text to itself. */
export const watchGreeting = (socket: Duplex): Greeting => {
  let received = ''
  const listen = (chunk: Buffer): void => {
    received += chunk.toString('latin1')
    if (/^SSH-.*\n/m.test(received) || received.length > maxBytes) socket.off('data', listen)
  }
  socket.on('data', listen)
  return {
    get version() {
      return /^(SSH-[^\r\n]*)\r?\n/m.exec(received)?.[1] ?? ''
    },
    get text() {
      const at = received.search(/^SSH-/m)
      return received.slice(0, at < 0 ? maxBytes : at).trim()
    },
  }
}
