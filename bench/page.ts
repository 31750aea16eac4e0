import type { Row } from './bench.ts'
import type { Figure } from './figure.ts'
import type { Result } from './results.ts'
import { markdownTable } from './table.ts'

/** docs/benchmarks.md, whole. */
export const pageOf = (rows: readonly Row[], all: readonly Result[]): string => {
  const results = rows.flatMap(({ name }) => all.find(({ row }) => row === name) ?? [])
  const isOpen = results.some(({ figures }) => figures.some(({ reached }) => reached !== true))
  const missing = rows.filter(({ name }) => !results.some(({ row }) => row === name)).map(({ name }) => name)
  return `# Benchmarks

Written by \`npm run bench\`. Do not edit.

The figures of a row are from one run: medians of each side, taken in turn on the same machine. The ratios are what
counts; the times are those of the machine, where client and hosts share the cores.

${markdownTable(results.flatMap(({ figures }) => figures))}
${missing.length === 0 ? '' : `Not measured: ${missing.join(', ')}.\n\n`}${isOpen ? `## What bounds the figures that are not reached\n\n${results.map(boundsText).join('')}` : 'Every figure is reached.\n'}
## How each is measured

Client and hosts are in one container without a network: one sshd answers on every address of 127.0.0.0/8, and each
address is a host. drover is the compiled form that the package holds, and its fleet runs are real ones, with journal
and reports. Everything is in \`bench/\`; \`npm run bench -- ${rows[0]?.name ?? 'ROW'}\` repeats one row.

${rows.map((row) => aboutText(row, results)).join('')}`
}

const aboutText = ({ name, about }: Row, results: readonly Result[]): string => {
  const result = results.find(({ row }) => row === name)
  if (result === undefined) return `- **${name}**: ${about}\n`
  const { date, runs, machine, versions } = result
  return `- **${name}**: ${about} Measured on ${date}, ${runs} run${runs === 1 ? '' : 's'} of each side, on ${machine}; ${versions.join(', ')}.\n`
}

const boundsText = ({ row, figures }: Result): string => {
  const open = figures.filter(({ reached }) => reached !== true)
  if (open.length === 0) return ''
  const shared = new Map<string, Figure[]>()
  for (const figure of open) {
    const why = (figure.why ?? []).join('\n')
    shared.set(why, [...(shared.get(why) ?? []), figure])
  }
  return [...shared]
    .map(
      ([why, of]) =>
        `### ${row}\n\n${of.map(({ what, ratio, measured, toReach }) => `- ${what}: ${ratio === '-' ? measured : ratio}, to reach ${toReach}\n`).join('')}\n${why === '' ? '' : `\`\`\`\n${why}\n\`\`\`\n`}\n`,
    )
    .join('')
}
