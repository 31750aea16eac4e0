import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure } from './figure.ts'
import { root } from './place.ts'

/** What one row came to when it was last measured whole. */
export interface Result {
  readonly row: string
  readonly date: string
  readonly machine: string
  readonly versions: readonly string[]
  readonly runs: number
  readonly figures: readonly Figure[]
}

const file = join(root, 'docs/benchmarks.json')

const readResults = (): readonly Result[] => JSON.parse(readFileSync(file, 'utf8')) as Result[]

/** In the place of the row's result from before: rows take minutes each, and one may be measured alone. */
export const keepResult = (result: Result): readonly Result[] => {
  const results = [...readResults().filter(({ row }) => row !== result.row), result]
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  return results
}
