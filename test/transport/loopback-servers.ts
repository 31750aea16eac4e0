import { spawn } from 'node:child_process'
import type { Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export interface LoopbackServer {
  readonly port: number
  stop(): Promise<void>
}

/** Takes every connection and does with it what the test says. */
export const serve = (onSocket: (socket: Socket) => void): Promise<LoopbackServer> =>
  new Promise((resolve, reject) => {
    const sockets = new Set<Socket>()
    const server: Server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', () => undefined)
      onSocket(socket)
    })
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') return reject(new Error('no port'))
      const stop = () =>
        new Promise<void>((done) => {
          server.close(() => done())
          for (const socket of sockets) socket.destroy()
        })
      resolve({ port: address.port, stop })
    })
  })

/** A port that does not even answer SYN: a process that listens and never accepts, its queue filled. */
export const serveNothing = async (): Promise<LoopbackServer> => {
  const program = `
    const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, String(server.address().port))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise<number>((resolve) =>
    child.stdout.once('data', (text: Buffer) => resolve(Number(text))),
  )
  const fillers = Array.from({ length: 4 }, () => connect({ port, host: '127.0.0.1' }).on('error', () => undefined))
  await new Promise((resolve) => fillers[0]?.once('connect', resolve))
  return {
    port,
    stop: async () => {
      for (const socket of fillers) socket.destroy()
      child.kill('SIGKILL')
    },
  }
}

/** What a doorman does with a connection: all but the first are what sshd does under load, old and new, or a firewall. */
export type Welcome = 'pass' | 'crowded' | 'shut-out' | 'close' | 'reset' | 'greet-and-close' | 'greet' | 'mute'

/** Stands before a server and turns away whom the test says; `count` is how many have come before. */
export const doormanTo = async (target: number, welcome: (count: number) => Welcome): Promise<Relay> => {
  const seen = { count: 0 }
  const texts = { crowded: 'Exceeded MaxStartups\r\n', 'shut-out': 'Not allowed at this time\r\n' }
  const relay = await relayTo(target, (near) => {
    const verdict = welcome(seen.count)
    seen.count += 1
    if (verdict === 'pass') return true
    if (verdict === 'reset') near.resetAndDestroy()
    else if (verdict === 'close') near.end()
    else if (verdict === 'greet') near.write('SSH-2.0-OpenSSH_9.2p1\r\n')
    else if (verdict === 'greet-and-close') near.end('SSH-2.0-OpenSSH_9.2p1\r\n')
    else if (verdict !== 'mute') near.end(texts[verdict])
    return false
  })
  return {
    ...relay,
    get connectionCount() {
      return seen.count
    },
  }
}

export interface Relay extends LoopbackServer {
  readonly connectionCount: number
  /** From now on it swallows everything, in both directions: a half-open link. */
  goDeaf(): void
  /** Ends the connections it holds; new ones are taken. */
  cut(): void
}

/** Stands before a server, so that a test can break the line. */
export const relayTo = async (target: number, mayPass: (near: Socket) => boolean = () => true): Promise<Relay> => {
  const pairs: [Socket, Socket][] = []
  let isDeaf = false
  const server = await serve((near) => {
    if (!mayPass(near)) return
    const far = connect(target, '127.0.0.1')
    far.on('error', () => undefined)
    near.on('data', (chunk) => isDeaf || far.write(chunk))
    far.on('data', (chunk) => isDeaf || near.write(chunk))
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    pairs.push([near, far])
  })
  return {
    ...server,
    get connectionCount() {
      return pairs.length
    },
    goDeaf: () => {
      isDeaf = true
    },
    cut: () => {
      for (const [near, far] of pairs) {
        near.destroy()
        far.destroy()
      }
    },
  }
}
