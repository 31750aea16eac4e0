import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostState } from '../../../src/facts/state.ts'
import { lookUp } from '../../../src/facts/tree.ts'
import { directoryPresent } from '../../../src/tasks/general/directory-present.ts'
import { filePresent } from '../../../src/tasks/general/file-present.ts'
import { linkPresent } from '../../../src/tasks/general/link-present.ts'
import { pathAbsent } from '../../../src/tasks/general/path-absent.ts'
import type { Task } from '../../../src/tasks/task.ts'
import type { PathLiteral } from '../host-state.ts'
import { paramsOf, planOn, predicted, stateFor } from './planning.ts'

// Few names, so that paths, links and nodes meet.
const name = fc.constantFrom('a', 'b')
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => `/srv/${parts.join('/')}`)
const mode = fc.constantFrom('0644', '0600', '0755', '2755')
const owner = fc.constantFrom('root:root', '0:0', 'web:web', '7:7')
const content = fc.constantFrom('', 'x', 'y\n')

type Shape = { readonly leaf: PathLiteral } | { readonly names: Readonly<Record<string, Shape>>; readonly mode: number }

const bits = fc.constantFrom(0o644, 0o755, 0o2755)
const leaf: fc.Arbitrary<PathLiteral> = fc.oneof(
  fc.record({ file: content, mode: bits, uid: fc.constantFrom(0, 7) }),
  fc.record({ link: fc.oneof(path, fc.constantFrom('a', '../b', '../../srv', '.', '/', '/gone', 'a/b')) }),
  fc.constant<PathLiteral>('other'),
)
const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf.map((literal) => ({ leaf: literal })),
    fc.record({ names: fc.dictionary(name, tie('shape'), { maxKeys: 2 }), mode: bits }),
  ),
}))

/** Every directory lists its names, so that whatever a link leads to is known, as the inspect script sees to. */
const literals = (at: string, shape: Shape): [string, PathLiteral][] => {
  if ('leaf' in shape) return [[at, shape.leaf]]
  const names = Object.keys(shape.names)
  return [
    [at, { dir: names, mode: shape.mode }],
    ...names.flatMap((name) => literals(`${at}/${name}`, shape.names[name] as Shape)),
  ]
}

const tree = fc.dictionary(name, shape, { maxKeys: 2 }).map(
  (names): Record<string, PathLiteral> => ({
    '/': { dir: ['srv'] },
    ...Object.fromEntries(literals('/srv', { names, mode: 0o755 })),
  }),
)

const mounts = [['cut', '-d', ' ', '-f', '5', '/proc/self/mountinfo'], { stdout: '/\n/proc' }] as const

interface Case {
  readonly task: Task<never>
  readonly input: Readonly<Record<string, string | boolean>>
}

const aCase = (task: unknown, input: fc.Arbitrary<Case['input']>): fc.Arbitrary<Case> =>
  input.map((input) => ({ task: task as Task<never>, input }))

const cases = fc.oneof(
  aCase(filePresent, fc.record({ path, content, mode, owner })),
  aCase(directoryPresent, fc.record({ path, mode, owner, parents: fc.boolean() })),
  aCase(linkPresent, fc.record({ path, target: fc.oneof(path, name), replace: fc.boolean() })),
  aCase(pathAbsent, fc.record({ path, recurse: fc.boolean() })),
)

const before = ({ task, input }: Case, paths: Record<string, PathLiteral>): HostState =>
  stateFor(task, paramsOf(task, input), { paths, commands: [mounts] })

test('whatever lies there: after what is planned nothing is left to plan', () => {
  let changed = 0
  fc.assert(
    fc.property(tree, cases, (paths, given) => {
      const params = paramsOf(given.task, given.input)
      const state = before(given, paths)
      const first = planOn(given.task, params, state)
      if (first.status !== 'planned') return
      if (first.changes.length > 0) changed += 1
      expect(planOn(given.task, params, predicted(state, first))).toEqual({ status: 'planned', changes: [] })
    }),
    { numRuns: 3000 },
  )
  expect(changed).toBeGreaterThan(500)
})

test('whatever lies there: only what the step may replace is replaced, and at its real place', () => {
  fc.assert(
    fc.property(tree, cases, (paths, given) => {
      const state = before(given, paths)
      const planned = planOn(given.task, paramsOf(given.task, given.input), state)
      for (const change of planned.status === 'planned' ? planned.changes : []) {
        if (!('path' in change)) continue
        const there = state.tree.nodes.get(change.path)
        const type = there === undefined ? 'absent' : (there as { type: string }).type
        expect(lookUp(state.tree, change.path)).toEqual(there ?? { type: 'absent' })
        if (change.kind === 'write') expect(['absent', 'file']).toContain(type)
        if (change.kind === 'directory') expect(type).toBe('absent')
        if (change.kind === 'attributes') expect(['file', 'directory']).toContain(type)
        if (change.kind === 'link') expect(given.input.replace ? ['absent', 'symlink'] : ['absent']).toContain(type)
        if (change.kind === 'remove') expect(change.recurse && !given.input.recurse).toBe(false)
      }
    }),
    { numRuns: 2000 },
  )
})
