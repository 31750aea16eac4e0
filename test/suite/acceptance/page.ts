import { type Group, groups, type Item } from './items.ts'
import type { NamedTest } from './tests.ts'

/** The numbers of which something is claimed and no test has the name. */
export const untested = (tests: readonly NamedTest[]): readonly number[] =>
  itemsOf(groups)
    .filter(([number, { proves }]) => proves.length > 0 && testsOf(number, tests).length === 0)
    .map(([number]) => number)

/** Numbers in names of tests that are none of the list. */
export const unknownNumbers = (tests: readonly NamedTest[]): readonly number[] => {
  const known = new Set(itemsOf(groups).map(([number]) => number))
  return [...new Set(tests.flatMap(({ numbers }) => numbers))].filter((number) => !known.has(number))
}

/** The generated part of docs/acceptance.md. */
export const acceptanceTables = (tests: readonly NamedTest[]): string =>
  groups
    .flatMap(({ title, items }) => [
      `## ${title}`,
      '',
      '| item | what | under test | shown by |',
      '|---|---|---|---|',
      ...numbered(items).map(([number, item]) => row(number, item, testsOf(number, tests))),
      '',
    ])
    .join('\n')

const row = (number: number, { asks, proves, note }: Item, tests: readonly NamedTest[]): string => {
  const under = proves.length === 0 ? `not claimed: ${note}` : `${proves.join(', ')}${note ? ` (${note})` : ''}`
  const shown = tests.length > 0 ? byFile(tests) : proves.length === 0 ? '-' : '**no test yet**'
  return `| 11.${number} | ${asks} | ${under} | ${shown} |`
}

const byFile = (tests: readonly NamedTest[]): string => {
  const files = [...new Set(tests.map(({ file }) => file))]
  return files
    .map((file) => {
      const names = tests.filter((test) => test.file === file).map(({ name }) => `\`${cell(name)}\``)
      return `${file}: ${[...new Set(names)].join('; ')}`
    })
    .join('<br>')
}

// A name may hold what would end the cell or the code in it.
const cell = (name: string): string => name.replaceAll('|', '\\|').replaceAll('`', "'")

const testsOf = (number: number, tests: readonly NamedTest[]): readonly NamedTest[] =>
  tests.filter(({ numbers }) => numbers.includes(number))

const numbered = (items: Group['items']): [number, Item][] =>
  Object.entries(items).map(([number, item]): [number, Item] => [Number(number), item])
const itemsOf = (all: readonly Group[]): [number, Item][] => all.flatMap(({ items }) => numbered(items))
