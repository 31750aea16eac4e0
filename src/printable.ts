// Control characters drive the terminal; bidirectional and invisible ones make a line read as another.
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line of text as a terminal may show it. Newlines too are spelled out, so that a host cannot forge a line. */
export const printable = (text: string): string =>
  text.replace(unsafe, (character) => named[character] ?? spelled(character))

/** The same for what a host says at length: newlines and tabs stay, as diffs and logs need them. */
export const printableText = (text: string | Uint8Array): string =>
  (typeof text === 'string' ? text : Buffer.from(text).toString('utf8'))
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (character) =>
      character === '\n' || character === '\t' ? character : (named[character] ?? spelled(character)),
    )

/** Its lines; the caller indents them. */
export const printableLines = (text: string): readonly string[] => printableText(text).replace(/\n$/, '').split('\n')

const spelled = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}
