import { expect, test } from 'vitest'
import { z } from 'zod'
import { errorsMarkdown, tasksMarkdown } from '../../src/cli/docs.ts'
import { exitOfError, exitOfErrors } from '../../src/cli/error-exit.ts'
import { parametersOf } from '../../src/cli/parameters.ts'
import { DroverError, type ErrorCode, errorCodes } from '../../src/errors.ts'
import { Secret } from '../../src/secret.ts'
import { tasks } from '../../src/tasks/registry.ts'

test('docs/errors.md has one row per code and its exit code', () => {
  const page = errorsMarkdown(errorCodes)
  for (const code of Object.keys(errorCodes))
    expect(page.split('\n').filter((line) => line.startsWith(`| \`${code}\` |`))).toHaveLength(1)
  expect(page).toContain('| `inventory-empty` | The inventory holds no host. | 5 |')
})

test.each([
  ['usage', 5],
  ['host-key-changed', 4],
  ['change-failed', 2],
  ['drifted', 2],
  ['locked', 9],
  ['cancelled', 130],
  ['internal', 1],
] as const)('%s alone is exit %i', (code, exit) => {
  expect(exitOfError(code)).toBe(exit)
})

test.each([
  [['internal', 'usage'], 5],
  [['connect-failed', 'internal'], 1],
  [['cancelled'], 130],
  [['connect-failed'], 4],
] as const)('of %j the exit code is %i', (codes, exit) => {
  expect(exitOfErrors(codes.map((code: ErrorCode) => new DroverError({ code, message: 'm', remedy: 'r' })))).toBe(exit)
})

test('docs/tasks.md has a section per task with every parameter described', () => {
  const page = tasksMarkdown(tasks.values())
  for (const { name, example, params } of tasks.values()) {
    expect(page).toContain(`\n## ${name}\n`)
    expect(page).toContain(example.trimEnd())
    for (const parameter of parametersOf(params))
      expect(parameter.description, `${name}.${parameter.name}`).not.toBe('')
  }
})

test('parameters are described in words', () => {
  const schema = z.strictObject({
    text: z.string().describe('A text.'),
    word: z.enum(['a', 'b', 'c']).default('b'),
    count: z.int().min(1).max(9).optional(),
    positive: z.number().positive().default(1.5),
    any: z.int(),
    flag: z.boolean().default(false),
    list: z.array(z.string()).default([]),
    either: z.union([z.string(), z.null()]),
    hidden: z.union([z.string(), z.instanceof(Secret)]),
    made: z.string().transform((text) => text.length),
  })
  expect(
    parametersOf(schema).map(({ name, type, isRequired, default: fallback }) => [name, type, isRequired, fallback]),
  ).toEqual([
    ['text', 'text', true, undefined],
    ['word', 'a, b or c', false, '"b"'],
    ['count', 'whole number 1 to 9', false, undefined],
    ['positive', 'number from above 0', false, '1.5'],
    ['any', 'whole number', true, undefined],
    ['flag', 'true or false', false, 'false'],
    ['list', 'list of text', false, '[]'],
    ['either', 'text or null', true, undefined],
    ['hidden', 'text or secret', true, undefined],
    ['made', 'text', true, undefined],
  ])
})
