// Control characters drive the terminal; bidirectional and invisible ones make a line read as another.
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line of text as a terminal may show it. Newlines too are spelled out, so that a host cannot forge a line. */
export const printable = (text: string): string =>
  text.replace(unsafe, (character) => named[character] ?? spelled(character))

/** The same for text of several lines; the caller indents them. Tabs stay, as diffs and logs need them. */
export const printableLines = (text: string): readonly string[] =>
  text
    .replaceAll('\r\n', '\n')
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))

const spelled = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}
