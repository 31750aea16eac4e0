import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Stdin } from '../connection.ts'

const pieceBytes = 64 * 1024

/** Writes the bytes and closes the stream. */
export const writeStdin = async (stream: Writable, stdin: Stdin, isOver: () => boolean): Promise<void> => {
  const parts = stdin instanceof Uint8Array ? [stdin] : stdin
  for await (const bytes of parts) {
    if (isOver()) return
    await writeBytes(stream, bytes, isOver)
  }
  if (!isOver()) stream.end()
}

/**
 * Waiting for the write alone is not enough: while the window is open it calls back at once, and fifty uploads would
 * be encrypted in one turn of the event loop.
 */
export const writeBytes = async (stream: Writable, bytes: Uint8Array, isOver: () => boolean): Promise<void> => {
  for (let at = 0; at < bytes.length && !isOver(); at += pieceBytes) {
    // Never calls back if the channel closes meanwhile; this function then simply does not go on.
    await new Promise<void>((resolve) => stream.write(bytes.subarray(at, at + pieceBytes), () => resolve()))
    await setImmediate()
  }
}
