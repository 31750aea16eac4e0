import type { Problem } from '../inventory/names.ts'
import type { YamlPath } from '../inventory/strict-yaml.ts'
import type { Value } from './value.ts'

export type ProblemCode = 'playbook-invalid' | 'variable-undefined' | 'secret-in-text'

/** Why a value cannot be had. */
interface ValueProblem extends Problem {
  readonly code: ProblemCode
  /** Where in the value that was to be filled in. */
  readonly path: YamlPath
  /** The variable whose own value it is that is at fault. */
  readonly inside?: string
}

/** A value with the room it takes when written out, or everything that stands in its way. */
export type Outcome = Filled | { readonly problems: readonly ValueProblem[] }

interface Filled {
  readonly value: Value
  readonly size: number
  readonly height: number
}

/** Variables that double each other stay small in memory and would be endless in a schema or a file. */
export const sizeLimit = 1_048_576
export const depthLimit = 100

export const problem = (message: string, remedy: string, code: ProblemCode = 'playbook-invalid'): Outcome => ({
  problems: [{ code, message, remedy, path: [] }],
})

export const tooDeep = (): Outcome =>
  problem(`This comes to more than ${depthLimit} levels, one inside the other.`, 'Nest the variables less.')

export const filled = (value: Value, size = 1, height = 0): Outcome => {
  if (height > depthLimit) return tooDeep()
  if (size <= sizeLimit) return { value, size, height }
  return problem(`This comes to more than ${sizeLimit} characters.`, 'Bring big contents to the host as a file.')
}

/** Several outcomes as one: of all of them the problems, each once, or else the value made of theirs. */
export const gather = (
  outcomes: readonly (readonly [step: string | number | undefined, outcome: Outcome])[],
  make: (values: Value[]) => Value,
): Outcome => {
  const problems = new Map<string, ValueProblem>()
  const values: Value[] = []
  let [size, height] = [1, 0]
  for (const [step, outcome] of outcomes) {
    if ('problems' in outcome) {
      for (const found of outcome.problems) {
        const path = step === undefined ? found.path : [step, ...found.path]
        problems.set(JSON.stringify([path, found.message]), { ...found, path })
      }
      continue
    }
    values.push(outcome.value)
    size += outcome.size
    height = Math.max(height, outcome.height + 1)
  }
  if (problems.size > 0) return { problems: [...problems.values()] }
  // Before it is made: a text of 2^50 characters must not be.
  const room = filled(null, size, height)
  return 'problems' in room ? room : filled(make(values), size, height)
}
