// A package script: writes the tables of docs/acceptance.md, or with --check fails where they are stale or a claim has
// no test.
import { readFileSync, writeFileSync } from 'node:fs'
import { withGeneratedPart } from '../../../src/cli/generated-part.ts'
import { root } from '../step.ts'
import { acceptanceTables, unknownNumbers, untested } from './page.ts'
import { numberedTests } from './tests.ts'

const page = `${root}docs/acceptance.md`
const tests = numberedTests(root)
const before = readFileSync(page, 'utf8')
const after = withGeneratedPart(before, 'acceptance', acceptanceTables(tests))

const named = (numbers: readonly number[]): string => numbers.map((number) => `11.${number}`).join(', ')
const [missing, unknown] = [untested(tests), unknownNumbers(tests)]
const check = process.argv.includes('--check')
const faults = [
  ...(check && before !== after ? ['stale: docs/acceptance.md; run this script without --check'] : []),
  ...(missing.length > 0 ? [`no test has the number of: ${named(missing)}`] : []),
  ...(unknown.length > 0 ? [`tests with a number that is none of the list: ${named(unknown)}`] : []),
]
if (!check && before !== after) writeFileSync(page, after)
process.stderr.write(faults.map((fault) => `${fault}\n`).join(''))
if (check && faults.length > 0) process.exitCode = 1
