import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/facts/fact.ts'
import { inspectScript, questionFor, sectionsOf } from '../../src/facts/question.ts'
import { isUnitName } from '../../src/facts/unit.ts'

const facts: Fact[] = [
  { kind: 'unit', name: 'a.service', starts: true },
  { kind: 'unit', name: 'b.target' },
  { kind: 'path', path: '/etc/x/y', content: 100, sha256: true },
  { kind: 'path', path: '/etc/x', entries: true },
  { kind: 'path', path: '/etc/s', content: 10, secret: true },
  { kind: 'mount', path: '/opt/a' },
  { kind: 'package', name: 'curl' },
  { kind: 'program', name: 'nft' },
  { kind: 'port', port: 6443 },
  { kind: 'command', argv: ['a', 'b c'] },
  { kind: 'command', argv: ['d'], timeoutS: 5 },
  { kind: 'probe', name: 'swap' },
]

test('every asked thing is asked once, with all ancestors of its path', () => {
  const twice = questionFor([...facts, ...facts])
  expect(twice).toEqual(questionFor(facts))
  expect(twice.paths).toEqual(['/', '/etc', '/etc/x', '/etc/x/y', '/etc/s', '/opt', '/opt/a'])
  expect(twice.leftoversIn).toEqual(['/etc/x', '/etc'])
  expect(twice.secretPaths).toEqual(['/etc/s'])
})

test('the script gets each section with the number of its arguments', () => {
  const { args } = inspectScript(questionFor(facts))
  const sections: Record<string, string[]> = {}
  for (let at = 0; at < args.length; ) {
    const count = Number(args[at + 1])
    sections[args[at] as string] = args.slice(at + 2, at + 2 + count)
    at += 2 + count
  }
  expect(Object.keys(sections)).toEqual(sectionsOf(questionFor(facts)).map(({ name }) => name))
  expect(sections.units?.slice(1)).toEqual(['a.service', 'b.target'])
  expect(sections.starts).toEqual(['a.service'])
  expect(sections.texts).toEqual(['100', '/etc/x/y', '10', '/etc/s'])
  expect(sections.commands?.slice(0, 7)).toEqual(['20', '2', 'a', 'b c', '5', '1', 'd'])
  expect(sections.commands?.slice(7, 11)).toEqual(['20', '4', '/bin/sh', '-c'])
})

test('what nobody asks does not travel', () => {
  const { script, args } = inspectScript(questionFor([]))
  expect(args).toEqual(['os', '0', 'self', '0'])
  expect(script).not.toContain('ask_units')
  expect(script).not.toContain('ask_lease')
})

test('a look after changes says what is to become of the lease', () => {
  const { script, args } = inspectScript(questionFor([]), { action: 'free', run: 'r', owner: 'o', ttlS: 60 })
  expect(args.slice(4)).toEqual(['lease', '4', 'free', 'r', 'o', '60'])
  expect(script).toContain('ask_lease()')
})

describe('names', () => {
  test.each([
    'bad!name.service',
    'foo@.service',
    '-x.service',
    'a/b.service',
    '../x.service',
    'x',
    'a b.service',
    '',
    `${'a'.repeat(248)}.service`,
  ])('the unit name %j would end the batch and is refused', (name) => {
    expect(isUnitName(name)).toBe(false)
    expect(() => questionFor([{ kind: 'unit', name }])).toThrow('not a unit name')
  })
  test.each([
    'a.service',
    'foo@bar.service',
    'dev-disk-by\\x2duuid.swap',
    'systemd-nspawn@kube1.service',
    'a:b_c.mount',
    'machines.target',
  ])('%j is a unit name', (name) => expect(isUnitName(name)).toBe(true))
  test.each(['relative', '/a/', '/a/../b', '/a\0'])('the path %j is refused', (path) => {
    expect(() => questionFor([{ kind: 'path', path }])).toThrow('not a clean path')
    expect(() => questionFor([{ kind: 'mount', path }])).toThrow('not a clean path')
  })
})

test('arguments are what was asked, whatever is in them', () => {
  const name = fc
    .string({ minLength: 1 })
    .map((text) => text.replaceAll(/[/\0]/g, '_'))
    .filter((text) => text !== '.' && text !== '..')
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), fc.array(fc.string()), (names, argv) => {
      const path = `/${names.join('/')}`
      const { args } = inspectScript(
        questionFor([
          { kind: 'path', path },
          { kind: 'command', argv },
        ]),
      )
      expect(args).toContain(path)
      expect(args.slice(args.length - argv.length)).toEqual(argv)
    }),
  )
})
