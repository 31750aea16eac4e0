import { shellQuote } from '../quote.ts'
import type { GuardScope } from './change.ts'
import { rollbackSource } from './rollback-source.ts'
import type { Undo } from './undo.ts'

type Place = Extract<Undo, { kind: 'link' | 'file' }>

/** What the armed rollback runs: functions of `rollback/*.sh`, and one call for each thing to be undone, every word quoted. */
export const undoScript = (undo: readonly Undo[], scope: GuardScope): string =>
  [`${rollbackSource('undo')}group() {`, ...callsOf(undo, scope).map(line), '}', 'main "$@" </dev/null', ''].join('\n')

/** Each may run any number of times. The first that fails ends the pass. */
const line = ([name = '', ...words]: readonly string[]): string =>
  `${[name, ...words.map(shellQuote)].join(' ')} || return`

const callsOf = (undo: readonly Undo[], scope: GuardScope): (readonly string[])[] => [
  ['scope', scope.root, scope.lock],
  ...placesOf(undo.filter((one) => !isInWorker(one, scope))),
  ...(undo.some(({ kind }) => kind === 'daemon-reload') ? [['reload']] : []),
  ...undo.flatMap((one) => (one.kind === 'unit' ? [['unit', one.unit, one.was, one.exe ?? '']] : [])),
  ...(scope.worker === undefined
    ? []
    : [['worker', scope.worker.stateFile, scope.worker.current, scope.worker.inside]]),
]

/** The worker's binary is made to fit the machine that is active by then: it may have been built anew meanwhile. */
const isInWorker = (undo: Undo, { worker }: GuardScope): boolean =>
  worker !== undefined &&
  'path' in undo &&
  ['kube1', 'kube2'].some((machine) => undo.path === worker.inside.replace('{machine}', machine))

/**
 * A path that several changes touch is put back once, to what it was before all of them, in the place of the first of
 * them: what lies there between two of them is nowhere kept. Until it is back it may be anything that they make of it.
 */
const placesOf = (undo: readonly Undo[]): (readonly string[])[] => {
  const places = undo.filter((one): one is Place => one.kind === 'link' || one.kind === 'file')
  const paths = [...new Set(places.map(({ path }) => path).reverse())].reverse()
  return paths.map((path) => {
    const same = places.filter((place) => place.path === path)
    const was = same.at(-1)
    if (was === undefined) throw new Error(`nothing undoes ${path}`)
    const anything = same.some((place) => place.kind === 'file' && place.rewritten) ? ['any'] : []
    const ours = same.flatMap((place) => [oursOf(place), wasOf(place)])
    return ['place', path, ...new Set([wasOf(was), ...ours, ...anything])]
  })
}

/** How places.sh says what lies at a path. */
const wasOf = (place: Place): string =>
  place.kind === 'link' ? named('link', place.was) : named('file', place.wasSha256)

const oursOf = (place: Place): string =>
  place.kind === 'link' ? named('link', place.ours) : named('file', place.oursSha256)

const named = (kind: string, value: string | null): string => (value === null ? 'absent' : `${kind}:${value}`)
