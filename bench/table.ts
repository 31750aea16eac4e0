import type { Figure } from './figure.ts'

const columns = ['row', 'measured', 'against', 'ratio', 'to reach', 'reached'] as const

const cellsOf = ({ what, measured, against, ratio, toReach, reached }: Figure): readonly string[] => [
  what,
  measured,
  against,
  ratio,
  toReach,
  reached === null ? 'not measured' : reached ? 'yes' : 'no',
]

export const textTable = (figures: readonly Figure[]): string => {
  const rows = [columns, ...figures.map(cellsOf)]
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return `${rows.map(line).join('\n')}\n`
}

export const markdownTable = (figures: readonly Figure[]): string => {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |\n`
  return [columns, columns.map(() => '---'), ...figures.map(cellsOf)].map(line).join('')
}
