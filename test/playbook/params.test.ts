import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { VarValue } from '../../src/inventory/host.ts'
import { checkTemplate, parseParams } from '../../src/playbook/params.ts'
import { Secret } from '../../src/secret.ts'

type Template = Readonly<Record<string, VarValue>>

const shown = (faults: ReturnType<typeof checkTemplate>): string[] =>
  faults.map((fault) =>
    'key' in fault ? `${fault.path.join('.')} ? ${fault.key}` : `${fault.path.join('.')} ${fault.message}`,
  )

describe('before variables are known', () => {
  const flat = z.strictObject({ a: z.int(), b: z.string().optional(), c: z.array(z.int()).default([]) })
  const ruled = flat.refine(({ a, b }) => b !== undefined || a > 10, { path: ['a'], message: 'Too few.\nMore.' })
  const kinds = z.strictObject({
    source: z.union([
      z.strictObject({ kind: z.literal('url'), url: z.string() }),
      z.strictObject({ kind: z.literal('file'), file: z.string() }),
    ]),
  })

  test.each<[string, z.ZodType, Template, string[]]>([
    ['nothing is wrong', flat, { a: 1 }, []],
    ['what is missing is', flat, { b: '${x}' }, ['a a: A value is missing: a number.']],
    ['what stands beside a variable is judged', flat, { a: '${x}', b: 3 }, ['b b: 3 stands where a text belongs.']],
    ['what stands in one list with a variable waits', flat, { a: 1, c: ['${x}', 'y'] }, []],
    ['a rule over several waits for all', ruled, { a: 1, b: '${x}' }, []],
    ['a rule over several holds when all are known', ruled, { a: 1 }, ['a a: Too few.']],
    ['a choice waits for what it turns on', kinds, { source: { kind: '${k}', file: 3 } }, []],
    ['an unknown one is unknown', flat, { a: '${x}', d: '${x}' }, [' ? d']],
    ['a loose object takes what it is given', z.looseObject({ a: z.int() }), { a: '${x}', d: 'y' }, []],
    [
      'a catchall is kept',
      z.object({ a: z.int() }).catchall(z.int()),
      { a: '${x}', d: 'y' },
      ['d d: The text "y" stands where a number belongs.'],
    ],
    ['behind a transform the object is seen', flat.transform(({ a }) => a), { a: '${x}', d: 1 }, [' ? d']],
    ['of what is no object nothing can be said', z.record(z.string(), z.int()), { a: '${x}', d: 'y' }, []],
    ['an escape is no variable', flat, { a: 1, b: '$${x}' }, []],
  ])('%s', (_, schema, template, faults) => {
    expect(shown(checkTemplate(schema, template))).toEqual(faults)
  })
})

test('unknown parameters are faults although the schema would drop them', () => {
  expect(shown(parseParams(z.object({ a: z.int() }), { a: 1, b: 2 }).faults)).toEqual([' ? b'])
  expect(
    parseParams(
      z.object({ a: z.int() }).refine(() => true),
      { a: 1 },
    ).value,
  ).toEqual({ a: 1 })
})

test('a secret is taken where the schema wants one and is never shown where it does not', () => {
  const secret = new Secret('hunter2')
  expect(parseParams(z.strictObject({ a: z.instanceof(Secret) }), { a: secret }).value).toEqual({ a: secret })
  const { faults } = parseParams(z.strictObject({ a: z.array(z.string().regex(/x/)) }), { a: [secret] })
  expect(shown(faults)).toEqual(['a.0 a.0: This secret does not fit here.'])
})
