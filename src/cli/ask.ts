import { StringDecoder } from 'node:string_decoder'
import pLimit from 'p-limit'
import { DroverError } from '../errors.ts'
import { printable } from '../printable.ts'
import type { Ask, Question } from '../transport/login/ask.ts'

/** The terminal of whoever started drover, in raw mode: it shows nothing by itself, and no key means anything to it. */
export interface Terminal {
  write(text: string): void
  onData(listener: (bytes: Buffer) => void): void
  onEnd(listener: () => void): void
  /** As it was before. */
  close(): void
}

export interface AskOptions {
  /** Null: drover has no terminal. */
  readonly openTerminal: () => Terminal | null
  /** What Ctrl-C does elsewhere. */
  readonly interrupt: () => void
}

/** Asks one question at a time, whoever asks. */
export const createAsk = ({ openTerminal, interrupt }: AskOptions): Ask => {
  const oneAtATime = pLimit(1)
  return (question) =>
    oneAtATime(async () => {
      if (question.signal?.aborted) return null
      const terminal = openTerminal()
      if (terminal === null) return null
      try {
        const line = await readLine(terminal, question)
        if (line !== null) return line
      } finally {
        terminal.close()
      }
      interrupt()
      throw new DroverError({
        code: 'cancelled',
        message: `The question "${question.text.trim()}" was not answered.`,
        remedy: 'Run again and answer it.',
      })
    })
}

const interruptKey = '\x03'
const endKey = '\x04'
const clearKey = '\x15'
const eraseKeys = ['\b', '\x7f']

/** One line as a person types it; null: Ctrl-C, or Ctrl-D where nothing was typed. */
const readLine = (terminal: Terminal, { text, above = [], isHidden }: Question): Promise<string | null> =>
  new Promise((resolve) => {
    const decoder = new StringDecoder('utf8')
    let typed: readonly string[] = []
    let isOver = false
    const end = (line: string | null): void => {
      isOver = true
      terminal.write('\r\n')
      resolve(line)
    }
    const erase = (count: number): void => {
      if (!isHidden) terminal.write('\b \b'.repeat(Math.min(count, typed.length)))
      typed = typed.slice(0, Math.max(0, typed.length - count))
    }
    const press = (key: string): void => {
      if (isOver) return
      if (key === '\r' || key === '\n') end(typed.join(''))
      else if (key === interruptKey || (key === endKey && typed.length === 0)) end(null)
      else if (eraseKeys.includes(key)) erase(1)
      else if (key === clearKey) erase(typed.length)
      else if (!/\p{Cc}/u.test(key)) {
        typed = [...typed, key]
        if (!isHidden) terminal.write(key)
      }
    }
    terminal.onData((bytes) => {
      for (const key of decoder.write(bytes)) press(key)
    })
    terminal.onEnd(() => {
      if (!isOver) end(null)
    })
    terminal.write([...above, text].map(printable).join('\r\n'))
  })
