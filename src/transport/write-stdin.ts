import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'

const pieceBytes = 64 * 1024

/**
 * Writes the bytes and closes the stream. Waiting for the write alone is not enough: while the window is open it
 * calls back at once, and fifty uploads would be encrypted in one turn of the event loop.
 */
export const writeStdin = async (stream: Writable, bytes: Uint8Array, isOver: () => boolean): Promise<void> => {
  for (let at = 0; at < bytes.length && !isOver(); at += pieceBytes) {
    // Never calls back if the channel closes meanwhile; this function then simply does not go on.
    await new Promise<void>((resolve) => stream.write(bytes.subarray(at, at + pieceBytes), () => resolve()))
    await setImmediate()
  }
  if (!isOver()) stream.end()
}
