import type { Call } from '../changes/compile.ts'

/** Files of functions that every apply has, under src/changes/apply. */
const usual = ['steps', 'control', 'words', 'supervise', 'unit']

/** Those that travel only with the calls that need them. */
const further: readonly { readonly functions: readonly string[]; readonly files: readonly string[] }[] = [
  { functions: ['place', 'copy_file'], files: ['../../transport/upload/fit', 'place'] },
  { functions: ['is_running_from', 'succeeds', 'answers'], files: ['health'] },
  {
    functions: ['hold', 'release_lock', 'arm', 'confirm', 'fire_now'],
    files: ['../rollback/marks', '../rollback/decide', 'guard'],
  },
]

/** A call is `perform FUNCTION ARG...`; what is waited for is a function, too. */
export const partsFor = (calls: readonly Call[]): readonly string[] => {
  const called = new Set(calls.flatMap(([, name, , , condition]) => (name?.startsWith('wait_') ? [condition] : [name])))
  const needed = further.filter(({ functions }) => functions.some((name) => called.has(name)))
  return [...usual, ...needed.flatMap(({ files }) => files)]
}
