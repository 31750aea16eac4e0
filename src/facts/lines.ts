/** Lines of one section of the answer, all of them plain ASCII. */
export type Lines = readonly string[]

export const wordsOf = (line: string): string[] => line.split(' ')

export const bytes = (base64: string | undefined): Buffer => Buffer.from(base64 ?? '', 'base64')

/** What a host sent as base64, as text. Bytes that are not UTF-8 become U+FFFD: they are shown, never executed. */
export const text = (base64: string | undefined): string => bytes(base64).toString('utf8')

/** NUL-separated records. What stands after the last NUL is not whole. */
export const records = (base64: string | undefined): string[] => {
  const all = text(base64).split('\0')
  return all.slice(0, -1)
}
