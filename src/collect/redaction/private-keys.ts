import type { Finder } from './span.ts'

/** No key is longer, line ends and what a journal puts before each line included. */
const longest = 16_384

const marker = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g

/**
 * Private keys in PEM, with their lines whatever stands between them. A text that was cut may hold only half of one, at
 * its beginning or its end.
 */
export const findPrivateKeys: Finder = function* (text) {
  let begun: number | null = null
  let isFirst = true
  for (const { index, 0: found, 1: which } of text.matchAll(marker)) {
    const isInKey: boolean = begun !== null && index - begun <= longest
    if (which === 'BEGIN') begun = isInKey ? begun : index
    else {
      const from: number = isInKey ? (begun ?? index) : isFirst && index <= longest ? 0 : index
      yield [from, index + found.length]
      begun = null
      isFirst = false
    }
  }
  if (begun !== null && text.length - begun <= longest) yield [begun, text.length]
}
