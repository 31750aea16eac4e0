import type { ZodType } from 'zod'
import { z } from 'zod'
import { quoted } from './names.ts'

type Issue = z.core.$ZodIssue
type Path = readonly (string | number)[]

export type ShapeFault =
  | { readonly path: Path; readonly message: string; readonly remedy: string }
  | { readonly path: Path; readonly key: string; readonly known: readonly string[] }

/** Zod's issues in our words. A schema's own message may be two lines: what is wrong, and what to do. */
export const checkShape = <T>(schema: ZodType<T>, data: unknown): { value?: T; faults: ShapeFault[] } => {
  // An issue names the unknown keys but not the known ones, and only here is its schema in sight.
  const knownKeys = new Map<string, readonly string[]>()
  const result = schema.safeParse(data, {
    reportInput: true,
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') knownKeys.set(issue.keys.join('\n'), shapeKeys(issue.inst))
      return undefined
    },
  })
  if (result.success) return { value: result.data, faults: [] }
  return { faults: result.error.issues.flatMap((issue) => toFaults(issue, [], knownKeys)) }
}

const shapeKeys = (schema: unknown): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])

const toFaults = (issue: Issue, parent: Path, known: ReadonlyMap<string, readonly string[]>): ShapeFault[] => {
  const path = [...parent, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))]
  if (issue.code === 'unrecognized_keys') {
    const keys = known.get(issue.keys.join('\n')) ?? []
    return issue.keys.map((key) => ({ path, key, known: keys }))
  }
  if (issue.code === 'invalid_union') return unionFaults(issue, path, known)
  const [message = '', remedy] = issue.message.split('\n')
  if (remedy !== undefined) return [{ path, message, remedy }]
  return [{ path, ...wording(issue) }]
}

/** Of the branches of a union the one that the value is nearest to; else all that would have been taken. */
const unionFaults = (
  issue: z.core.$ZodIssueInvalidUnion,
  path: Path,
  known: ReadonlyMap<string, readonly string[]>,
): ShapeFault[] => {
  const isKind = (inner: Issue): boolean => inner.path.length === 0 && inner.code === 'invalid_type'
  // What is missing is near to nothing.
  const meant = issue.input === undefined ? undefined : issue.errors.find((branch) => !branch.some(isKind))
  if (meant !== undefined) return meant.flatMap((inner) => toFaults(inner, path, known))
  const kinds = issue.errors
    .flat()
    .flatMap((inner) => (inner.code === 'invalid_type' ? [kindName(inner.expected)] : []))
  if (kinds.length === 0)
    return [{ path, message: 'This is none of the forms allowed here.', remedy: 'See the documentation.' }]
  return [{ path, ...expected(kinds.join(' or '), issue.input) }]
}

const wording = (issue: Issue): { message: string; remedy: string } => {
  switch (issue.code) {
    case 'invalid_type':
      return expected(kindName(issue.expected), issue.input)
    case 'invalid_value': {
      const choices = issue.values.map(String).join(', ')
      return { message: `${show(issue.input)} is not allowed here.`, remedy: `Write one of: ${choices}.` }
    }
    case 'too_big':
      return { message: `${show(issue.input)} is too large.`, remedy: `The largest value is ${issue.maximum}.` }
    case 'too_small':
      return { message: `${show(issue.input)} is too small.`, remedy: `The smallest value is ${issue.minimum}.` }
    default:
      return { message: issue.message, remedy: 'Correct the value.' }
  }
}

const expected = (kind: string, input: unknown): { message: string; remedy: string } =>
  input === undefined
    ? { message: `A value is missing: ${kind}.`, remedy: `Write ${kind}.` }
    : { message: `${show(input)} stands where ${kind} belongs.`, remedy: `Write ${kind}.` }

const kindNames: { [expected: string]: string } = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'nothing',
}

const kindName = (name: string): string => kindNames[name] ?? name

const show = (input: unknown): string => {
  if (input === null || input === undefined) return 'Nothing'
  if (Array.isArray(input)) return 'A list'
  if (typeof input === 'object') return 'A mapping'
  return typeof input === 'string' ? `The text ${quoted(input)}` : String(input)
}
