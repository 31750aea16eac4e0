// Control characters drive the terminal; bidirectional and invisible ones make a line read as another.
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** Host output as a terminal may show it: what it cannot show harmlessly is spelled out. Newline and tab stay. */
export const printable = (text: string | Uint8Array): string => {
  const decoded = typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
  return decoded.replaceAll('\r\n', '\n').replace(unsafe, (character) => {
    if (character === '\n' || character === '\t') return character
    const code = character.codePointAt(0) ?? 0
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
  })
}
