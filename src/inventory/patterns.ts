import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ErrorCode } from '../errors.ts'
import { DroverError } from '../errors.ts'
import type { Host, Inventory } from './host.ts'
import type { HostIndex } from './match-term.ts'
import { hostIndex, matchTerm } from './match-term.ts'
import { quoted } from './names.ts'
import { didYouMean, nearNames } from './near.ts'
import type { Term } from './pattern-terms.ts'
import { patternTerms } from './pattern-terms.ts'
import type { ReadFile } from './read-text.ts'
import { readText } from './read-text.ts'

export interface SelectHostsOptions {
  readonly cwd: string
  readonly readFile?: ReadFile
  /** How long all names together may keep one regular expression busy. */
  readonly regexTimeoutMs?: number
}

interface PatternFault {
  readonly code: ErrorCode
  readonly message: string
  readonly remedy: string
}

interface Selecting {
  readonly index: HostIndex
  readonly options: SelectHostsOptions
  readonly near: (text: string) => string | undefined
  readonly faults: PatternFault[]
}

/** A term and where it stands, if that is in a file. */
type PlacedTerm = Term & { readonly place?: string }

/** The hosts of an Ansible-like pattern in the order of the inventory; at least one, or it is an error. */
export const selectHosts = (inventory: Inventory, pattern: string, options: SelectHostsOptions): Host[] => {
  const index = hostIndex(inventory)
  const near = nearNames([...index.groups.keys(), ...index.byName.keys()])
  const selecting: Selecting = { index, options, near, faults: [] }
  const terms = patternTerms(pattern, (name) => index.byName.has(name))
  if (terms.length === 0) {
    selecting.faults.push({
      code: 'usage',
      message: `The host pattern ${quoted(pattern)} is empty.`,
      remedy: 'Write all for every host.',
    })
  }
  const chosen = evaluate(terms, selecting)
  if (selecting.faults.length === 0 && chosen.size === 0) selecting.faults.push(nothingLeft(pattern))
  refuse(selecting.faults)
  return index.hosts.filter((host) => chosen.has(host))
}

/** First all that is named, then what `&` keeps of it, then what `!` leaves, wherever the terms stand. */
const evaluate = (terms: readonly PlacedTerm[], selecting: Selecting): Set<Host> => {
  const setsOf = (role: Term['role']): Set<Host>[] =>
    terms.filter((term) => term.role === role).map((term) => hostsOf(term, selecting))
  const added = setsOf('add')
  // Only exclusions and intersections: they start from all.
  const start = added.length > 0 ? added.flatMap((hosts) => [...hosts]) : selecting.index.hosts
  const kept = setsOf('keep')
  const dropped = setsOf('drop')
  return new Set(start.filter((host) => kept.every((set) => set.has(host)) && !dropped.some((set) => set.has(host))))
}

const hostsOf = (term: PlacedTerm, selecting: Selecting): Set<Host> => {
  const { index, options, near, faults } = selecting
  if (term.text.startsWith('@')) return hostsOfFile(term, selecting)
  const where = term.place === undefined ? '' : `${term.place} `
  const found = matchTerm(term.text, index, options.regexTimeoutMs ?? 1000)
  if (found === undefined) {
    const remedy = didYouMean(near(term.text), 'See drover inventory graph for the names there are.')
    faults.push({
      code: 'pattern-no-match',
      message: `${where}No host and no group matches ${quoted(term.text)}.`,
      remedy,
    })
    return new Set()
  }
  if ('problem' in found) {
    faults.push({ code: 'usage', message: where + found.problem.message, remedy: found.problem.remedy })
    return new Set()
  }
  return new Set(found)
}

/** `@file`: the lines together are one pattern. */
const hostsOfFile = ({ text, place }: PlacedTerm, selecting: Selecting): Set<Host> => {
  const { index, options, faults } = selecting
  const file = text.slice(1)
  const fault = (code: ErrorCode, message: string, remedy: string): Set<Host> => {
    faults.push({ code, message: `${place ?? file} ${message}`, remedy })
    return new Set()
  }
  if (place !== undefined) return fault('usage', 'A pattern file cannot name another one.', 'Write its lines here.')
  const read = readText(resolve(options.cwd, file), file, options.readFile ?? readFileSync)
  if ('fault' in read) return fault('usage', read.fault.message, read.fault.remedy)
  const terms = read.text.split('\n').flatMap((line, number): PlacedTerm[] =>
    patternTerms(line.replace(/(^|\s)#.*$/, ''), (name) => index.byName.has(name)).map((term) => ({
      ...term,
      place: `${file}:${number + 1}`,
    })),
  )
  if (terms.length === 0)
    return fault('pattern-no-match', 'The file names no host.', 'Write a name or a pattern on a line.')
  return evaluate(terms, selecting)
}

const nothingLeft = (pattern: string): PatternFault => ({
  code: 'pattern-no-match',
  message: `The pattern ${quoted(pattern)} leaves no host.`,
  remedy: 'Choose a group that has hosts, or loosen the intersections (&) and exclusions (!).',
})

const refuse = (faults: readonly PatternFault[]): void => {
  const [first] = faults
  if (first === undefined) return
  throw new DroverError({ ...first, message: faults.map((fault) => fault.message).join('\n') })
}
