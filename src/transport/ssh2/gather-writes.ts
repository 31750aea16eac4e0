import type { Duplex } from 'node:stream'

/**
 * Lets what is written in one turn go out in one piece. ssh2 writes each packet in three (its length, its content, its
 * checksum), and without Nagle each of them would be a system call and a segment of its own.
 */
export const gatherWrites = (socket: Duplex): void => {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  let isCorked = false
  const release = (): void => {
    isCorked = false
    socket.uncork()
  }
  socket.write = (...args: unknown[]): boolean => {
    if (!isCorked) {
      isCorked = true
      socket.cork()
      process.nextTick(release)
    }
    return write(...args)
  }
}
