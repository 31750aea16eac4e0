import { DroverError } from './errors.ts'

/** Quotes one word for `/bin/sh`. Exact for every text a process argument can hold. */
export const shellQuote = (text: string): string => {
  refuseUndeliverable(text)
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * Text as `printf %b` gives it back, in characters that no login shell (dash, bash, zsh, ksh, fish, tcsh)
 * treats specially within single quotes. Those are few: the quote, the backslash (fish), the exclamation mark, the
 * backtick and the end of a line (tcsh). Every byte saved counts: what exceeds the first window of TCP costs a round trip.
 */
export const octalEscape = (text: string): string => {
  refuseUndeliverable(text)
  return text.replace(/[^ -~]|['\\!`]/gu, (character) => escapes.get(character) ?? octal(character))
}

const octal = (character: string): string =>
  Array.from(Buffer.from(character), (byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('')

const escapes = new Map([
  ['\n', '\\n'],
  ["'", octal("'")],
  ['\\', octal('\\')],
  ['!', octal('!')],
  ['`', octal('`')],
])

// NUL ends an argument, and half a surrogate pair has no UTF-8 form: both would arrive as something else.
const refuseUndeliverable = (text: string): void => {
  if (!text.includes('\0') && text.isWellFormed()) return
  throw new DroverError({
    code: 'internal',
    message: `A text with ${text.includes('\0') ? 'a NUL character' : 'half a surrogate pair'} cannot be handed to a shell.`,
    // Not the text itself: it may be a secret.
    remedy: 'Correct the variable or file it came from.',
  })
}
