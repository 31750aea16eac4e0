// JSON leaves these bare, and a terminal or a line reader may act on them. Line feeds here are the layout's own.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** JSON on one line, newline at the end. */
export const jsonLine = (value: unknown): string => `${escaped(JSON.stringify(value))}\n`

/** JSON for files and pipes that people read as well. */
export const jsonText = (value: unknown): string => `${escaped(JSON.stringify(value, null, 2))}\n`

const escaped = (json: string): string =>
  json.replace(unsafe, (character) => (character === '\n' ? character : character.split('').map(unit).join('')))

const unit = (half: string): string => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`
