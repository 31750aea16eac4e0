import { matchesGlob } from '../host-keys/host-pattern.ts'

/** One condition of a Match line. */
export interface Criterion {
  readonly name: string
  readonly isNegated: boolean
  /** Comma-separated patterns, or a command; empty for those that take none. */
  readonly argument: string
}

const withoutArgument = new Set(['all', 'canonical', 'final'])

export const parseCriteria = (words: readonly string[]): readonly Criterion[] => {
  const criteria: Criterion[] = []
  for (let at = 0; at < words.length; at += 1) {
    const [word = '', ...inline] = (words[at] ?? '').split('=')
    const isNegated = word.startsWith('!')
    const name = word.replace(/^!/, '').toLowerCase()
    if (withoutArgument.has(name)) criteria.push({ name, isNegated, argument: '' })
    else if (inline.length > 0) criteria.push({ name, isNegated, argument: inline.join('=') })
    else {
      at += 1
      criteria.push({ name, isNegated, argument: words[at] ?? '' })
    }
  }
  return criteria
}

/** What is known of a host at one place in the file. */
export interface MatchFacts {
  /** What was asked for. */
  readonly name: string
  /** With the HostName that has been read so far. */
  readonly hostname: string
  readonly user: string
  readonly localUser: string
  readonly isFinal: boolean
}

/** `unknown`: only ssh can say, as it has to run a command or look at the network. */
export const matchesCriteria = (criteria: readonly Criterion[], facts: MatchFacts): boolean | 'unknown' => {
  let isUnknown = false
  for (const criterion of criteria) {
    const met = isMet(criterion, facts)
    if (met === 'unknown') isUnknown = true
    else if (met === criterion.isNegated) return false
  }
  return isUnknown ? 'unknown' : true
}

const isMet = ({ name, argument }: Criterion, facts: MatchFacts): boolean | 'unknown' => {
  switch (name) {
    case 'all':
      return true
    case 'canonical':
    case 'final':
      return facts.isFinal
    case 'host':
      return matchesList(argument.toLowerCase().split(','), facts.hostname.toLowerCase())
    case 'originalhost':
      return matchesList(argument.toLowerCase().split(','), facts.name.toLowerCase())
    case 'user':
      return matchesList(argument.split(','), facts.user)
    case 'localuser':
      return matchesList(argument.split(','), facts.localUser)
    default:
      return 'unknown'
  }
}

/** One negated match speaks against the whole list; negations alone match nothing. */
export const matchesList = (patterns: readonly string[], text: string): boolean => {
  const hits = patterns.filter((pattern) => matchesGlob(pattern.replace(/^!/, ''), text))
  return hits.length > 0 && !hits.some((pattern) => pattern.startsWith('!'))
}
