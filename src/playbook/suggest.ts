import { nearName } from '../inventory/near.ts'

export type Suggest = (text: string, candidates: () => Iterable<string>) => string | undefined

/** Near names, looked for once per text: a slip on a thousand hosts is one search and gives one message. */
export const suggester = (): Suggest => {
  const found = new Map<string, string | undefined>()
  return (text, candidates) => {
    if (!found.has(text)) found.set(text, nearName(text, candidates()))
    return found.get(text)
  }
}
