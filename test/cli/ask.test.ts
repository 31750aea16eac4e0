import { expect, test, vi } from 'vitest'
import { createAsk, type Terminal } from '../../src/cli/ask.ts'

/** A terminal at which these pieces are typed as soon as something is asked. */
const terminalWith = (...pieces: readonly (string | Buffer)[]) => {
  const log: string[] = []
  const left = [...pieces]
  const interrupt = vi.fn()
  const open = (): Terminal => {
    log.push('<open>')
    let onData: (bytes: Buffer) => void = () => undefined
    let onEnd = (): void => undefined
    return {
      write: (text) => {
        log.push(text)
        if (!text.endsWith(': ')) return
        for (;;) {
          const piece = left.shift()
          if (piece === undefined) return onEnd()
          onData(Buffer.from(piece))
          if (/[\r\n\x03\x04]/.test(piece.toString())) return
        }
      },
      onData: (listener) => {
        onData = listener
      },
      onEnd: (listener) => {
        onEnd = listener
      },
      close: () => void log.push('<close>'),
    }
  }
  return { ask: createAsk({ openTerminal: open, interrupt }), log, interrupt }
}

test.each([
  ['a line in one piece', ['secret\r'], 'secret'],
  ['a newline ends it as well', ['secret\n'], 'secret'],
  ['what follows the end is not part of it', ['secret\rmore'], 'secret'],
  ['a character split over pieces', [Buffer.from([0xc3]), Buffer.from([0xa9]), '\r'], 'é'],
  ['corrections', ['abX\x7fc\bd\r'], 'abd'],
  ['more corrections than characters', ['a\x7f\x7f\x7fb\r'], 'b'],
  ['beginning again', ['wrong\x15right\r'], 'right'],
  ['control characters mean nothing', ['a\x1b\x07b\r'], 'ab'],
  ['nothing', ['\r'], ''],
  ['Ctrl-D after something means nothing', ['a\x04b\r'], 'ab'],
])('%s', async (_, pieces, answer) => {
  const { ask, log } = terminalWith(...pieces)
  expect(await ask({ text: 'Word: ', isHidden: true })).toBe(answer)
  expect(log).toEqual(['<open>', 'Word: ', '\r\n', '<close>'])
})

test('what is not hidden is shown as it is typed, and taken away as it is erased', async () => {
  const { ask, log } = terminalWith('ab\x7fc\x15d\r')
  expect(await ask({ text: 'Code: ', isHidden: false })).toBe('d')
  expect(log.join('')).toBe('<open>Code: ab\b \bc\b \b\b \bd\r\n<close>')
})

test.each([
  ['Ctrl-C', ['sec\x03']],
  ['Ctrl-D at the beginning', ['\x04']],
  ['a terminal that goes away', []],
])('%s is an interrupt, after the terminal is as it was', async (_, pieces) => {
  const { ask, log, interrupt } = terminalWith(...pieces)
  await expect(ask({ text: 'Word: ', isHidden: true })).rejects.toMatchObject({ code: 'cancelled' })
  expect(log.at(-1)).toBe('<close>')
  expect(interrupt).toHaveBeenCalledTimes(1)
})

test('questions are asked one after the other', async () => {
  const { ask, log } = terminalWith('one\r', 'two\r')
  const answers = ['First: ', 'Second: '].map((text) => ask({ text, isHidden: true }))
  expect(await Promise.all(answers)).toEqual(['one', 'two'])
  expect(log.filter((entry) => entry.startsWith('<'))).toEqual(['<open>', '<close>', '<open>', '<close>'])
})

test('a question that a host words cannot drive the terminal', async () => {
  const { ask, log } = terminalWith('x\r')
  await ask({ text: '\x1b[2JPassword: ', isHidden: true })
  expect(log[1]).toBe('\\x1b[2JPassword: ')
})

test('lines to be read first stand above it, each as a terminal may show it', async () => {
  const { ask, log } = terminalWith('3\r')
  expect(await ask({ above: ['This\x1b is so:', 'a\nb'], text: 'Number: ', isHidden: false })).toBe('3')
  expect(log[1]).toBe('This\\x1b is so:\r\na\\nb\r\nNumber: ')
})

test('without a terminal nobody answers', async () => {
  const ask = createAsk({ openTerminal: () => null, interrupt: () => undefined })
  expect(await ask({ text: 'Word: ', isHidden: true })).toBeNull()
})
