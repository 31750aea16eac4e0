import { nearName } from '../inventory/near.ts'

interface Missing {
  /** What `text` was looked for in. */
  readonly parent: string
  readonly text: string
}

export type Suggest = (missing: Missing, candidates: () => Iterable<string>) => string | undefined

/** Near names, looked for once per slip: one on a thousand hosts is one search and gives one message. */
export const suggester = (): Suggest => {
  const found = new Map<string, string | undefined>()
  return ({ parent, text }, candidates) => {
    const key = `${parent}\0${text}`
    if (!found.has(key)) found.set(key, nearName(text, candidates()))
    return found.get(key)
  }
}
