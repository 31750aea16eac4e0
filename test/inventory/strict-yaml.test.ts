import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseStrictYaml } from '../../src/inventory/strict-yaml.ts'

const schema = z.strictObject({
  name: z.string(),
  steps: z
    .array(
      z.union([
        z.string(),
        z.strictObject({ task: z.enum(['a', 'b']), mode: z.string().regex(/^0/, 'No mode.\nWrite 0644.').optional() }),
      ]),
    )
    .optional(),
})

const check = (text: string): string[] =>
  parseStrictYaml('p.yaml', text)
    .check(schema)
    .faults.map(({ line, column, message, remedy }) => `${line}:${column} ${message} ${remedy}`)

describe('check', () => {
  it.each([
    ['name: x\nsteps: [a, { task: a }]', []],
    ['nam: x\nname: y', ['1:1 "nam" is not a key that is known here. Did you mean name?']],
    ['steps: []', ['1:1 A value is missing: a text. Write a text.']],
    ['name: x\nsteps: 5', ['2:8 5 stands where a list belongs. Write a list.']],
    ['name: x\nsteps:\n  - 5', ['3:5 5 stands where a text or a mapping belongs. Write a text or a mapping.']],
    ['name: x\nsteps:\n  - { task: c }', ['3:13 The text "c" is not allowed here. Write one of: a, b.']],
    ['name: x\nsteps:\n  - { task: a, tsk: b }', ['3:16 "tsk" is not a key that is known here. Did you mean task?']],
    ['name: x\nsteps:\n  - { task: a, mode: x }', ['3:22 No mode. Write 0644.']],
    ['[]', ['1:1 A list stands where a mapping belongs. Write a mapping.']],
    ['', ['1:1 Nothing stands where a mapping belongs. Write a mapping.']],
  ])('%j', (text, faults) => {
    expect(check(text)).toEqual(faults)
  })

  it('looks at a part of the file when given a path', () => {
    const yaml = parseStrictYaml('p.yaml', 'a:\n  b: [1, x]')
    expect(yaml.check(z.array(z.number()), ['a', 'b']).faults).toMatchObject([{ line: 2, column: 10 }])
    expect(yaml.check(z.number(), ['a', 'b', 0])).toEqual({ value: 1, faults: [] })
  })
})

describe('positions', () => {
  it('are those of keys and values, through aliases, and of the nearest parent where there is nothing', () => {
    const yaml = parseStrictYaml('p.yaml', 'a: &a\n  b: 1\nc: *a\n')
    expect(yaml.position(['a', 'b'], 'key')).toEqual({ file: 'p.yaml', line: 2, column: 3 })
    expect(yaml.position(['a', 'b'])).toEqual({ file: 'p.yaml', line: 2, column: 6 })
    expect(yaml.position(['c', 'b'])).toEqual({ file: 'p.yaml', line: 2, column: 6 })
    expect(yaml.position(['c'])).toEqual({ file: 'p.yaml', line: 3, column: 4 })
    expect(yaml.position(['c', 'x', 'y'])).toEqual({ file: 'p.yaml', line: 3, column: 4 })
  })

  it('count a byte order mark, \\r and no tab twice', () => {
    const yaml = parseStrictYaml('p.yaml', '\ufeffa: 1\r\nb:\t2\r\n')
    expect(yaml.value).toEqual({ a: 1, b: 2 })
    expect(yaml.position(['b'])).toMatchObject({ line: 2, column: 4 })
  })
})
