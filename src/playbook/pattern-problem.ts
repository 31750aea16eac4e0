import { DroverError } from '../errors.ts'
import type { Inventory } from '../inventory/host.ts'
import type { Problem } from '../inventory/names.ts'
import { patternTerms } from '../inventory/pattern-terms.ts'
import { selectHosts } from '../inventory/patterns.ts'

const nobody: Inventory = { sources: [], hosts: [], groups: [] }

/** What is wrong with a pattern whatever the inventory holds. Term by term: that nothing matches may hide a bad one. */
export const patternProblem = (pattern: string): Problem | undefined => {
  for (const { text } of patternTerms(pattern, () => false)) {
    if (text.startsWith('@')) continue
    try {
      selectHosts(nobody, text, { cwd: '/' })
    } catch (thrown) {
      if (!(thrown instanceof DroverError)) throw thrown
      if (thrown.code !== 'pattern-no-match') return { message: thrown.message, remedy: thrown.remedy }
    }
  }
  return undefined
}
