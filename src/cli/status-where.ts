import { DroverError, errorCodes } from '../errors.ts'
import { globMatcher } from '../inventory/glob.ts'
import { quoted } from '../inventory/names.ts'
import { didYouMean, nearName } from '../inventory/near.ts'
import { verdicts } from '../tasks/agent/verdict.ts'
import { type Column, cellsOf, columns, type StatusRow } from './status-row.ts'

/** The conditions of all `--where`, of which each must hold: column=value, or one of several with commas; globs may be used. */
export const rowFilter = (conditions: readonly string[]): ((row: StatusRow) => boolean) => {
  const parsed = conditions.map(parse)
  return (row) => {
    const cells = cellsOf(row)
    return parsed.every(({ column, matchers }) => matchers.some((matches) => matches(cells[column].toLowerCase())))
  }
}

const parse = (condition: string): { column: Column; matchers: readonly ((text: string) => boolean)[] } => {
  const equals = condition.indexOf('=')
  if (equals === -1) throw wrong(condition, 'There is no = in it.', 'Write column=value, such as verdict=stuck.')
  const name = condition.slice(0, equals).trim().toLowerCase()
  const column = columns.find((known) => known === name)
  if (column === undefined) {
    throw wrong(
      condition,
      `There is no column ${quoted(name)}.`,
      didYouMean(nearName(name, columns), `The columns are: ${columns.join(', ')}.`),
    )
  }
  const values = condition
    .slice(equals + 1)
    .toLowerCase()
    .split(',')
  if (column === 'verdict') for (const value of values) refuseUnknownVerdict(condition, value)
  return { column, matchers: values.map((value) => globMatcher(value.trim())) }
}

// A slip here would be an empty list, which looks like a fleet without trouble.
const refuseUnknownVerdict = (condition: string, value: string): void => {
  const known = [...verdicts, ...Object.keys(errorCodes)]
  const matches = globMatcher(value.trim())
  if (known.some((verdict) => matches(verdict))) return
  const remedy = didYouMean(
    nearName(value, known),
    `The verdicts are: ${verdicts.join(', ')}; or the code of an error.`,
  )
  throw wrong(condition, `No verdict is called ${quoted(value)}.`, remedy)
}

const wrong = (condition: string, message: string, remedy: string): DroverError =>
  new DroverError({ code: 'usage', message: `--where ${condition}: ${message}`, remedy })
