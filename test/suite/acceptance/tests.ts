import { globSync, readFileSync } from 'node:fs'

export interface NamedTest {
  readonly file: string
  readonly name: string
  readonly numbers: readonly number[]
}

/** Where the tests of this project are. */
const places = ['test/**/*.test.ts', 'e2e/**/*.e2e.test.ts']

/** The tests whose names hold a number of the list. */
export const numberedTests = (root: string): readonly NamedTest[] =>
  places
    .flatMap((place) => globSync(place, { cwd: root }))
    .sort()
    .flatMap((file) => testsIn(file, readFileSync(`${root}/${file}`, 'utf8')))

// The name is the first argument of what declares a test or a group, or the first cell of a row that `each` fills in.
const declared = /[([]\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1\s*,/g

export const testsIn = (file: string, text: string): readonly NamedTest[] =>
  [...text.matchAll(declared)]
    .map(([, , literal = '']) => ({ file, name: shown(literal), numbers: numbersIn(literal) }))
    .filter(({ name, numbers }) => numbers.length > 0 && !name.includes('\n'))

const shown = (literal: string): string => literal.replaceAll(/\\(.)/g, '$1')

/** `11.5`, `11.15, 11.16`, `11.9 and 11.10`, `11.26-28`, `11.26 to 11.28`. */
export const numbersIn = (name: string): readonly number[] => {
  const found = name.matchAll(/(?<![\d.])11\.(\d{1,2})(?!\d|\.\d)(?:\s*(?:-|–|to)\s*(?:11\.)?(\d{1,2})(?!\d))?/g)
  return [...found].flatMap(([, first = '', last = first]) =>
    Array.from({ length: Math.max(1, Number(last) - Number(first) + 1) }, (_, index) => Number(first) + index),
  )
}
