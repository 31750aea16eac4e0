import type { VarValue } from '../inventory/host.ts'
import { quoted } from '../inventory/names.ts'
import { didYouMean } from '../inventory/near.ts'
import type { ReadSecret } from '../inventory/secret-reader.ts'
import { isSecretReference, parseSecretReference } from '../inventory/secret-reference.ts'
import { Secret } from '../secret.ts'
import type { Outcome } from './outcome.ts'
import { depthLimit, filled, gather, problem, tooDeep } from './outcome.ts'
import type { Reference, TextPart } from './reference.ts'
import { mayRefer, parseText } from './reference.ts'
import type { Scope } from './scope.ts'
import type { Suggest } from './suggest.ts'
import type { Value } from './value.ts'
import { isList, isMap, kindOf, member } from './value.ts'

export interface Resolver {
  readonly scope: Scope
  readonly readSecret: ReadSecret
  readonly suggest: Suggest
}

/** The references on the way to where we are, and how deep that is. */
interface Trail {
  readonly depth: number
  readonly through: readonly string[]
}

/**
 * Puts variables into values of a playbook, for one host. Nothing is evaluated: a reference is a path to data.
 * Each variable is worked out once, and only if something refers to it.
 */
export const resolver = ({ scope, readSecret, suggest }: Resolver): ((value: VarValue) => Outcome) => {
  const known = new Map<string, Outcome>()

  const fill = (value: VarValue, trail: Trail): Outcome => {
    if (trail.depth > depthLimit) return tooDeep()
    if (typeof value === 'string') return fillText(value, trail)
    const deeper = { ...trail, depth: trail.depth + 1 }
    if (isList(value)) {
      const outcomes = value.map((item, index) => [index, fill(item, deeper)] as const)
      return gather(outcomes, (items) => items)
    }
    if (!isMap(value)) return filled(value)
    if (trail.through.length > 0 && isSecretReference(value)) return secret(value)
    const keys = Object.keys(value)
    return gather(
      Object.entries(value).map(([key, inner]) => [key, fill(inner, deeper)]),
      (values) => Object.fromEntries(values.map((inner, index) => [keys[index], inner])),
    )
  }

  const secret = (value: { readonly secret: unknown }): Outcome => {
    const parsed = parseSecretReference(value)
    const read = 'problem' in parsed ? parsed : readSecret(parsed.reference)
    if ('secret' in read) return filled(read.secret)
    return problem(
      read.problem.message,
      read.problem.remedy,
      'problem' in parsed ? 'playbook-invalid' : 'variable-undefined',
    )
  }

  const fillText = (text: string, trail: Trail): Outcome => {
    if (!mayRefer(text)) return filled(text, text.length + 1)
    const read = parseText(text)
    if ('problem' in read) return problem(read.problem.message, read.problem.remedy)
    const [first, ...others] = read.parts
    if (first !== undefined && typeof first !== 'string' && others.length === 0) return lookUp(first, trail)
    return gather(
      read.parts.map((part) => [undefined, textOf(part, trail)]),
      (texts) => texts.join(''),
    )
  }

  const textOf = (part: TextPart, trail: Trail): Outcome => {
    if (typeof part === 'string') return filled(part, part.length)
    const outcome = lookUp(part, trail)
    if ('problems' in outcome) return outcome
    const { value } = outcome
    if (value instanceof Secret) {
      return problem(
        `\${${part.text}} is a secret inside a longer text.`,
        'Let a secret be the whole value.',
        'secret-in-text',
      )
    }
    if (typeof value === 'object') {
      return problem(`\${${part.text}} is ${kindOf(value)} inside a longer text.`, 'Refer to a text or a number there.')
    }
    return typeof value === 'string' ? outcome : filled(String(value))
  }

  const lookUp = (reference: Reference, trail: Trail): Outcome => {
    const before = known.get(reference.text)
    if (before !== undefined) return before
    const { through } = trail
    const start = through.indexOf(reference.text)
    if (start !== -1) {
      const circle = [...through.slice(start), reference.text].join(' → ')
      return problem(`A variable refers to itself: ${circle}.`, 'Give one of them a value of its own.')
    }
    const outcome = follow(reference, { depth: trail.depth + 1, through: [...through, reference.text] })
    known.set(reference.text, outcome)
    return outcome
  }

  const follow = (reference: Reference, trail: Trail): Outcome => {
    let here: Value | undefined = scope.get(reference.name)
    if (here === undefined) return undefinedVariable(reference)
    let done: Outcome | undefined
    for (const [index, step] of reference.path.entries()) {
      if (done === undefined && typeof here === 'string' && mayRefer(here)) {
        done = within(reference, fillText(here, trail))
        if ('problems' in done) return done
        here = done.value
      }
      const isSecret: boolean = here instanceof Secret || (done === undefined && isSecretReference(here))
      const next: Value | undefined = isSecret ? undefined : member(here, step)
      if (next === undefined) return undefinedKey(reference, index, here, isSecret)
      here = next
    }
    if (done !== undefined && !('problems' in done)) return { ...done, value: here }
    return within(reference, fill(here as VarValue, trail))
  }

  const undefinedVariable = ({ name, text }: Reference): Outcome => {
    const remedy = `Define it in the playbook or the inventory, or give -e ${name}=VALUE.`
    const near = suggest({ parent: '', text: name }, () => scope.names())
    return problem(`The variable \${${text}} is not defined.`, didYouMean(near, remedy), 'variable-undefined')
  }

  const undefinedKey = ({ name, path, text }: Reference, index: number, at: Value, isSecret: boolean): Outcome => {
    const parent = [name, ...path.slice(0, index)].join('.')
    const kind = isSecret ? 'a secret' : kindOf(at)
    const step = path[index] ?? ''
    const keys = isMap(at) && !isSecret ? Object.keys(at) : []
    const near = suggest({ parent, text: step }, () => keys)
    const remedy =
      keys.length > 0 ? `Its keys are: ${keys.slice(0, 20).map(quoted).join(', ')}.` : 'Correct the reference.'
    const message = `The variable \${${text}} is not defined: ${parent} is ${kind} without ${quoted(step)}.`
    return problem(message, didYouMean(near, remedy), 'variable-undefined')
  }

  return (value) => fill(value, { depth: 0, through: [] })
}

/** What is wrong inside a variable stands nowhere in the value that refers to it. */
const within = (reference: Reference, outcome: Outcome): Outcome => {
  if (!('problems' in outcome)) return outcome
  const problems = outcome.problems.map((found) => ({ ...found, path: [], inside: found.inside ?? reference.text }))
  return gather([[undefined, { problems }]], () => null)
}
