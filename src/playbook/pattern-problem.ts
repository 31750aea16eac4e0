import { DroverError } from '../errors.ts'
import type { Inventory } from '../inventory/host.ts'
import type { Problem } from '../inventory/names.ts'
import { quoted } from '../inventory/names.ts'
import { patternTerms } from '../inventory/pattern-terms.ts'
import { selectHosts } from '../inventory/patterns.ts'

const nobody: Inventory = { sources: [], hosts: [], groups: [] }

/** What is wrong with a pattern whatever the inventory holds. Term by term: that nothing matches may hide a bad one. */
export const patternProblem = (pattern: string): Problem | undefined => {
  const terms = patternTerms(pattern, () => false)
  if (terms.length === 0)
    return { message: `The pattern ${quoted(pattern)} is empty.`, remedy: 'Write all for every host.' }
  for (const { text } of terms) {
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
