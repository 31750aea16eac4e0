import { expect, test } from 'vitest'
import { groups } from './items.ts'
import { acceptanceTables, unknownNumbers, untested } from './page.ts'
import { type NamedTest, numbersIn, testsIn } from './tests.ts'

// Composed, since a number written out in this file would count as a test of the item.
const eleven = (rest: string): string => `11.${rest}`

test.each<[string, readonly number[]]>([
  [`${eleven('5')} a name`, [5]],
  [`${eleven('15')}, ${eleven('16')} a name`, [15, 16]],
  [`${eleven('9')} and ${eleven('10')} a name`, [9, 10]],
  [`${eleven('26')}-28 a name`, [26, 27, 28]],
  [`${eleven('26')} to ${eleven('28')} a name`, [26, 27, 28]],
  [`M11 a name (${eleven('3')})`, [3]],
  [`an address 10.${eleven('1')}.2`, []],
  [`a version ${eleven('2')}.1`, []],
  [`a large number ${eleven('123')}`, []],
])('%s has the numbers %j', (name, numbers) => expect(numbersIn(name)).toEqual(numbers))

test('names of tests, groups and rows are found, and nothing else is', () => {
  const text = [
    `test('${eleven('1')} one', async () => {`,
    `describe("${eleven('2')} it's two", () => {`,
    `test.each(rows)('${eleven('3')} %s', async (row) => {`,
    `test.each([\n  ['${eleven('4')} a row', 4],\n])('%s', (name) => {`,
    `test.concurrent.each(lanes)(\n  '${eleven('5')} long',\n  async () => {`,
    `test(\`${eleven('6')} on \${image}\`, () => {`,
    `/** Of ${eleven('7')}, in words. */`,
    `expect(text).toBe('${eleven('8')}')`,
    `test('it\\'s ${eleven('9')}', () => {`,
  ].join('\n')
  expect(testsIn('a.test.ts', text).map(({ name, numbers }) => [name, numbers])).toEqual([
    [`${eleven('1')} one`, [1]],
    [`${eleven('2')} it's two`, [2]],
    [`${eleven('3')} %s`, [3]],
    [`${eleven('4')} a row`, [4]],
    [`${eleven('5')} long`, [5]],
    [`${eleven('6')} on \${image}`, [6]],
    [`it's ${eleven('9')}`, [9]],
  ])
})

const named = (file: string, name: string, numbers: readonly number[]): NamedTest => ({ file, name, numbers })

test('M11 the list has the numbers 1 to 50, each once, and a reason where nothing is claimed', () => {
  const items = groups.flatMap((group) => Object.entries(group.items))
  expect(items.map(([number]) => Number(number))).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
  for (const [number, { proves, note }] of items) if (proves.length === 0) expect(note, number).toMatch(/\S/)
})

test('M11 a claim without a test is named, and what is not claimed needs none', () => {
  const all = Array.from({ length: 50 }, (_, index) => index + 1)
  const tests = [
    named(
      'a',
      'n',
      all.filter((number) => ![7, 20, 43].includes(number)),
    ),
  ]
  expect(untested(tests)).toEqual([7])
  expect(untested([...tests, named('b', 'm', [7])])).toEqual([])
  expect(unknownNumbers([named('a', 'n', [1, 51])])).toEqual([51])
})

test('M11 a row names files and tests, and no name breaks the table', () => {
  const lines = acceptanceTables([
    named('e2e/x.e2e.test.ts', 'a | b `c`', [1]),
    named('e2e/x.e2e.test.ts', 'more', [1, 2]),
    named('test/y.test.ts', 'other', [1]),
  ]).split('\n')
  const row = (number: number): string => lines.find((line) => line.startsWith(`| 11.${number} |`)) ?? ''
  expect(row(1)).toMatch(/\| e2e\/x\.e2e\.test\.ts: `a \\\| b 'c'`; `more`<br>test\/y\.test\.ts: `other` \|$/)
  expect(row(2)).toContain('`more`')
  expect(row(3)).toContain('no test yet')
  expect(row(20)).toMatch(/not claimed: .* \| - \|$/)
})
