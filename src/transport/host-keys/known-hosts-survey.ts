import { keyTypeOf } from './host-key.ts'
import type { KnownHostsLine } from './known-hosts-line.ts'
import type { HostLines } from './known-hosts-lookup.ts'
import { judgeHostKey } from './known-hosts-lookup.ts'

/** One key of a host that showed several, beside what known_hosts says. */
export interface SurveyedKey {
  readonly blob: Buffer
  readonly type: string
  /** `new`: nothing speaks against it; it may be a further key of a host that is known by another. */
  readonly state: 'known' | 'new' | 'changed' | 'revoked'
  /** What stands in its place in known_hosts. */
  readonly known: readonly KnownHostsLine[]
}

/** A host that shows a key it is known by may have others; one that shows none of those has changed. */
export const surveyHostKeys = (lines: HostLines, blobs: readonly Buffer[]): readonly SurveyedKey[] => {
  const verdicts = blobs.map((blob) => ({ blob, type: keyTypeOf(blob), verdict: judgeHostKey(lines, blob) }))
  const isItself = verdicts.some(({ verdict }) => verdict.status === 'ok')
  return verdicts.map(({ blob, type, verdict }): SurveyedKey => {
    if (verdict.status === 'ok') return { blob, type, state: 'known', known: [] }
    if (verdict.status === 'unknown') return { blob, type, state: 'new', known: [] }
    if (verdict.status === 'revoked') return { blob, type, state: 'revoked', known: [verdict.by] }
    const inPlace = verdict.known.filter(({ keyType }) => keyType === type)
    if (inPlace.length > 0) return { blob, type, state: 'changed', known: inPlace }
    return isItself ? { blob, type, state: 'new', known: [] } : { blob, type, state: 'changed', known: verdict.known }
  })
}
