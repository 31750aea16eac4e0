import { openSync, writeSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import type { Terminal } from './ask.ts'

/** The controlling terminal, whatever standard input and output are joined to. */
export const openTerminal = (): Terminal | null => {
  let fd: number
  try {
    fd = openSync('/dev/tty', 'r+')
  } catch {
    return null
  }
  const input = new ReadStream(fd)
  input.setRawMode(true)
  return {
    write: (text) => void writeSync(fd, text),
    onData: (listener) => void input.on('data', listener),
    // A terminal that is gone may end in an error.
    onEnd: (listener) => void input.on('error', listener).on('close', listener),
    close: () => {
      input.setRawMode(false)
      input.destroy()
    },
  }
}
