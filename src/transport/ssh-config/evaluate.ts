import { isIP } from 'node:net'
import type { ConfigItem, Directive } from './config-tree.ts'
import { allItems } from './config-tree.ts'
import { matchesCriteria, matchesList } from './match-criteria.ts'
import { expandTokens } from './tokens.ts'

export interface Destination {
  /** What is asked for. */
  readonly name: string
  /** What the inventory or the command line says; undefined: the file may. */
  readonly user?: string | undefined
  readonly localUser: string
}

/** What the files say about one host, as far as it can be read out of them. */
export interface Evaluated {
  /** Which of the Host and Match lines hold: the same for all hosts that the files cannot tell apart. */
  readonly signature: string
  /** What counts of each keyword: the first line, or every line of those that add up. */
  readonly values: ReadonlyMap<string, readonly Directive[]>
  readonly hostname: string
  /** False: a condition was met that only ssh can decide, and was taken for not fulfilled. */
  readonly isCertain: boolean
}

/** Keywords of which every line counts. */
const addingUp = new Set([
  'identityfile',
  'certificatefile',
  'localforward',
  'remoteforward',
  'dynamicforward',
  'sendenv',
])

/** Two keywords for one setting: whichever comes first. */
const slotOf = (keyword: string): string => (keyword === 'proxycommand' ? 'proxyjump' : keyword)

const asksForFinal = (items: readonly ConfigItem[]): boolean => hasCriterion(items, 'final')

export const hasCriterion = (items: readonly ConfigItem[], name: string): boolean =>
  allItems(items).some((item) => item.kind === 'match' && item.criteria.some((criterion) => criterion.name === name))

/** Digits that are no address as drover reads them may be one to the C library: 010.0.0.1 is 8.0.0.1. */
const isOddNumber = (name: string): boolean => /^[0-9][0-9a-fx.]*$/i.test(name) && isIP(name) === 0

export const evaluate = (items: readonly ConfigItem[], destination: Destination): Evaluated => {
  const values = new Map<string, Directive[]>()
  const taken = new Set<string>()
  let signature = ''
  let isCertain = true
  /** After the first pass; no HostName of the last one counts. */
  let settled: string | undefined

  const first = (keyword: string): string | undefined => values.get(keyword)?.[0]?.args[0]
  const hostname = (): string => {
    if (settled !== undefined) return settled
    const template = first('hostname')
    return template === undefined ? destination.name : expandTokens(template, { h: destination.name })
  }

  const set = (directive: Directive): void => {
    const { keyword } = directive
    const known = values.get(keyword)
    if (addingUp.has(keyword)) {
      const isRepeated = known?.some((one) => one.args.join(' ') === directive.args.join(' ')) ?? false
      if (!isRepeated) values.set(keyword, [...(known ?? []), directive])
    } else if (!taken.has(slotOf(keyword))) {
      taken.add(slotOf(keyword))
      values.set(keyword, [directive])
    }
  }

  const pass = (name: string): void => {
    const holds = (item: Extract<ConfigItem, { kind: 'host' | 'match' }>): boolean => {
      if (item.kind === 'host') return matchesList(item.patterns, name)
      const met = matchesCriteria(item.criteria, {
        name: destination.name,
        hostname: hostname(),
        user: destination.user ?? first('user') ?? destination.localUser,
        localUser: destination.localUser,
        isFinal: settled !== undefined,
      })
      if (met === 'unknown') isCertain = false
      return met === true
    }
    const walk = (list: readonly ConfigItem[], inherited: boolean): void => {
      let isActive = inherited
      for (const item of list) {
        if (item.kind === 'set') {
          if (isActive) set(item.directive)
        } else if (item.kind === 'include') {
          for (const file of item.files) walk(file, isActive)
        } else if (inherited) {
          isActive = holds(item)
          signature += isActive ? '1' : '0'
        }
      }
    }
    walk(items, true)
  }

  pass(destination.name)
  const canonicalize = first('canonicalizehostname')?.toLowerCase() ?? 'no'
  if (!['no', 'false', 'none'].includes(canonicalize)) isCertain = false
  if (isOddNumber(hostname())) isCertain = false
  settled = hostname().toLowerCase()
  if (asksForFinal(items)) pass(settled)
  return { signature, values, hostname: settled, isCertain }
}
