import { z } from 'zod'
import { withoutNothings } from './dig.ts'
import { type ConfigProblem, crossRules } from './rules.ts'
import { configSections } from './sections.ts'

/** Of a mapping with unknown keys zod has more to say than that it is none. */
const withoutKeys = ({ error }: { readonly error: () => string }) => ({
  error: (issue: { readonly code: string }) => (issue.code === 'invalid_type' ? error() : undefined),
})

/** Takes what it does not know: the agent of a newer release may know it. */
const lenient = configSections((shape, params) => z.looseObject(shape, params))
const strict = configSections((shape, params) => z.strictObject(shape, withoutKeys(params)))

/** All that is wrong with a config.json (domain.md 9.6). No message holds a value of it. */
export const configProblems = (value: unknown): readonly ConfigProblem[] => {
  const result = lenient.safeParse(withoutNothings(value))
  const shape = result.success ? [] : result.error.issues.map(({ path, message }) => ({ path: dotted(path), message }))
  if (shape.some(({ path }) => path === '')) return shape
  // One word on each place is enough.
  return [...shape, ...crossRules(value).filter(({ path }) => !shape.some((problem) => problem.path === path))]
}

/** Keys that no release drover knows of reads: a slip of the pen, or an agent that is newer. */
export const unknownKeys = (value: unknown): readonly string[] => {
  const result = strict.safeParse(withoutNothings(value))
  if (result.success) return []
  return result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => dotted([...issue.path, key])) : [],
  )
}

const dotted = (path: readonly PropertyKey[]): string => path.map(String).join('.')
