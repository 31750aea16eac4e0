import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { VarValue } from '../../src/inventory/host.ts'
import { parseExtraVars } from '../../src/playbook/extra-vars.ts'
import { filesOf, inputError, places } from './world.ts'

const files = {
  cwd: '/here',
  readFile: filesOf({
    '/here/vars.yaml': 'a: 1\nb:\n  - x\npw: { secret: { env: PW } }\n',
    '/abs.json': '{"a": "json", "n": {"m": null}}',
    '/here/list.yaml': '- a\n',
    '/here/bad.yaml': 'a: 1\na: 2\n<<: {}\n',
    '/here/names.yaml': 'ok: 1\na b: 2\nhost: 3\n',
    '/here/empty.yaml': '',
  }),
}
const parse = (...args: string[]) => parseExtraVars(args, files)

describe('name=value', () => {
  test.each<[string, VarValue]>([
    ['3', 3],
    ['-1.5', -1.5],
    ['1e3', '1e3'],
    ['0x1F', '0x1F'],
    ['12345e7', '12345e7'],
    ['+5', '+5'],
    ['.5', '.5'],
    ['true', true],
    ['null', null],
    ['~', null],
    ['', ''],
    ['text', 'text'],
    ['yes', 'yes'],
    ['"3"', '3'],
    ["'true'", 'true'],
    ['"a\\nb"', 'a\nb'],
    ["''", ''],
    ['0644', '0644'],
    ['1.10', '1.10'],
    ['12345678901234567890', '12345678901234567890'],
    ['.inf', '.inf'],
    ['a=b', 'a=b'],
    ['a: b', 'a: b'],
    ['[1, 2]', '[1, 2]'],
    ['# no comment', '# no comment'],
    ['1 # no comment', '1 # no comment'],
    [' 3', ' 3'],
    ['*alias', '*alias'],
    ['&anchor', '&anchor'],
    ['!tag', '!tag'],
    ['---', '---'],
    ['...', '...'],
    ['-', '-'],
    ['Null', null],
    ['a\nb', 'a\nb'],
    ['${other}', '${other}'],
  ])('v=%s is %j', (text, value) => {
    expect(parse(`v=${text}`)).toEqual({ v: value })
  })

  test('any text in JSON quotes is that text', () => {
    const printable = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(printable, (value) => {
        expect(parse(`v=${JSON.stringify(value)}`)).toEqual({ v: value })
      }),
    )
  })

  test('any text without quotes in front is a number, a word of YAML or itself, and nothing is thrown', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((value) => !/^["']/.test(value)),
        (text) => {
          const { v } = parse(`v=${text}`)
          if (typeof v === 'string') expect(v).toBe(text)
        },
      ),
    )
  })
})

test('mappings in the argument and in files', () => {
  expect(parse('{"a": 1, "b": [true]}')).toEqual({ a: 1, b: [true] })
  expect(parse('{a: 1}')).toEqual({ a: 1 })
  expect(parse('@vars.yaml')).toEqual({ a: 1, b: ['x'], pw: { secret: { env: 'PW' } } })
  expect(parse('@/abs.json')).toEqual({ a: 'json', n: { m: null } })
})

test('a later argument wins, and a mapping replaces a mapping', () => {
  expect(parse('@/abs.json', 'a=x', '{"n": {"k": 1}}')).toEqual({ a: 'x', n: { k: 1 } })
  expect(parse('a=x', '@/abs.json')).toEqual({ a: 'json', n: { m: null } })
})

test.each([
  ['novalue', '-e novalue There is no = in it. | Write -e name=value, -e \'{"name": "value"}\' or -e @FILE.'],
  ['=x', '-e  "" cannot be the name of a variable. | Use letters, digits, _ and -, beginning with a letter or _.'],
  [
    'a b=x',
    '-e a b "a b" cannot be the name of a variable. | Use letters, digits, _ and -, beginning with a letter or _.',
  ],
  [
    '__proto__=x',
    '-e __proto__ "__proto__" cannot be the name of a variable. | Use letters, digits, _ and -, beginning with a letter or _.',
  ],
  ['host=x', "-e host host is a variable of drover's own. | Choose another name."],
  ['a="x', '-e a The quotes around the value do not match. | Write -e \'name="value"\'.'],
  ['a="x" y', '-e a The quotes around the value do not match. | Write -e \'name="value"\'.'],
  ['{"a": 1, "a": 2}', '-e {…}:1:10 The key "a" is given twice. | Keep one of the two.'],
  ['{"__proto__": {"x": 1}}', '-e {…}:1:2 __proto__ cannot be a key. | Choose another name.'],
  ['@none.yaml', '-e @none.yaml There is no such file. | Correct the path or the file after @.'],
  ['@list.yaml', 'list.yaml:1:1 This is not a mapping of variables. | Write a mapping of names to values.'],
  ['@empty.yaml', 'empty.yaml:1:1 This is not a mapping of variables. | Write a mapping of names to values.'],
])('-e %s is refused', (argument, fault) => {
  const error = inputError(() => parse(argument))
  expect(error.code).toBe('usage')
  expect(places(error.faults).map((text) => text.replace(':undefined:undefined', ''))).toEqual([fault])
})

test('all faults of all arguments come at once, without the values', () => {
  const error = inputError(() => parse('@bad.yaml', 'a=1', '@names.yaml', 'pass word=hunter2', '"hunter2'))
  expect(error.faults.map(({ file, line }) => `${file} ${line}`)).toEqual([
    'bad.yaml 2',
    'bad.yaml 3',
    'names.yaml 2',
    'names.yaml 3',
    '-e pass word undefined',
    '-e "hunter2 undefined',
  ])
})

test('deep nesting is a fault', () => {
  expect(() => parse(`{"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`)).toThrow(/deeply|nested/i)
})
