import type { Row } from './bench.ts'
import type { Figure } from './figure.ts'
import { markdownTable } from './table.ts'

export interface Ran {
  readonly row: Row
  readonly figures: readonly Figure[]
}

export interface Circumstances {
  readonly date: string
  readonly machine: string
  readonly versions: readonly string[]
  readonly runs: number
  /** Rows that the run has not come to. */
  readonly missing: readonly string[]
}

/** docs/benchmarks.md, whole. */
export const pageOf = (ran: readonly Ran[], { date, machine, versions, runs, missing }: Circumstances): string => {
  const figures = ran.flatMap((each) => each.figures)
  const open = figures.filter(({ reached }) => reached !== true)
  return `# Benchmarks

Written by \`npm run bench\` on ${date}. Do not edit.

All figures are from one run: medians of ${runs} runs of each side, taken in turn on the same machine. The ratios are what
counts; the times are those of this machine, where client and hosts share the cores.

- Machine: ${machine}.
- Versions: ${versions.join(', ')}.

${markdownTable(figures)}
${missing.length === 0 ? '' : `The run was cut short. Not measured: ${missing.join(', ')}.\n\n`}${open.length === 0 ? 'Every figure is reached.\n' : `## What bounds the figures that are not reached\n\n${ran.map(boundsText).join('')}`}
## How each is measured

Client and hosts are in one container without a network: one sshd answers on every address of 127.0.0.0/8, and each
address is a host. drover is the compiled form that the package holds, and its fleet runs are real ones, with journal
and reports. Everything is in \`bench/\`; \`npm run bench -- ${ran[0]?.row.name ?? 'ROW'}\` repeats one row.

${ran.map(({ row }) => `- **${row.name}**: ${row.about}\n`).join('')}`
}

const boundsText = ({ row, figures }: Ran): string => {
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
        `### ${row.name}\n\n${of.map(({ what, ratio, measured, toReach }) => `- ${what}: ${ratio === '-' ? measured : ratio}, to reach ${toReach}\n`).join('')}\n${why === '' ? '' : `\`\`\`\n${why}\n\`\`\`\n`}\n`,
    )
    .join('')
}
