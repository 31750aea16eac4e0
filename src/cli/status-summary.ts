import { holderOf } from '../facts/holder.ts'
import { printable } from '../printable.ts'
import { counted, type Paint } from '../report/paint.ts'
import { word } from '../report/word.ts'
import type { Finding } from '../tasks/task.ts'
import { hostList, namedHosts } from './status-host-list.ts'
import { rootLines } from './status-roots.ts'
import { cellsOf, isHealthy, type StatusRow } from './status-row.ts'

export interface SummaryLook {
  readonly paint: Paint
  readonly verbose: number
  /** `-i` options as they were given, for the commands that are suggested. */
  readonly inventory: readonly string[]
  /** And those that say how to connect. */
  readonly connection: readonly string[]
}

/** Below the table: what is wrong and where, the fleet in numbers, and what to run next. */
export const summaryLines = (rows: readonly StatusRow[], look: SummaryLook): readonly string[] => [
  ...troubleLines(rows, look),
  ...findingLines(rows, look),
  `${counted(rows.length, 'host')}: ${tally(rows, (row) => cellsOf(row).verdict)}`,
  ...agents(rows),
  ...rootLines(rows),
  ...rollbacks(rows, look),
  ...locks(rows),
  ...withoutRoot(rows),
  ...nextLines(rows, look),
]

const troubleLines = (rows: readonly StatusRow[], { paint, verbose }: SummaryLook): readonly string[] => {
  const bad = rows.filter((row) => !isHealthy(row))
  const told = verbose > 0 ? bad : bad.slice(0, namedHosts)
  const lines = told.flatMap((row) => {
    const host = `${printable(row.host)}: `
    if ('status' in row) {
      const { explanation, remedy } = row.status
      const fix = remedy === null ? [] : [`  fix: ${printable(remedy)}`]
      return [paint('changed', host + printable(explanation)), ...fix]
    }
    const { message, code, remedy } = row.error
    return [paint('bad', `${host}${printable(message)} [${code}]`), `  fix: ${printable(remedy)}`]
  })
  const more = bad.length - told.length
  const all = [...lines, ...(more > 0 ? [`… and ${counted(more, 'host')} more; -v shows all`] : [])]
  return all.length > 0 ? ['', ...all, ''] : ['']
}

const findingLines = (rows: readonly StatusRow[], { paint, verbose }: SummaryLook): readonly string[] => {
  const found = rows.flatMap((row) =>
    'status' in row ? row.status.findings.map((finding) => ({ host: row.host, finding })) : [],
  )
  const wrong = found.filter(({ finding }) => finding.severity !== 'ok' && !isOfRollback(finding))
  if (wrong.length === 0) return []
  if (verbose === 0)
    return [`${counted(wrong.length, 'warning')} (${tally(wrong, ({ finding }) => finding.check)}); -v shows them`]
  return wrong.flatMap(({ host, finding }) => [
    paint('warning', `${finding.severity}: ${printable(host)}: ${finding.check}: ${printable(finding.message)}`),
    ...(finding.remedy === undefined ? [] : [`  fix: ${printable(finding.remedy)}`]),
  ])
}

const agents = (rows: readonly StatusRow[]): readonly string[] => {
  const read = rows.filter((row) => 'status' in row)
  return read.length === 0 ? [] : [`agents: ${tally(read, agentVersion)}`]
}

const agentVersion = (row: StatusRow): string => {
  const { agent } = cellsOf(row)
  return agent === '-' ? 'none' : agent === '?' ? 'of unknown version' : agent
}

const isOfRollback = ({ check }: Finding): boolean => check === 'rollback-armed' || check === 'rolled-back'

/** Never left out: each has its own time, and who looks may have to decide before it. */
const rollbacks = (rows: readonly StatusRow[], { paint }: SummaryLook): readonly string[] =>
  rows.flatMap((row) =>
    'status' in row
      ? row.status.findings
          .filter(isOfRollback)
          .flatMap(({ message, remedy = '' }) => [
            paint('warning', `rollback: ${printable(row.host)}: ${printable(message)}`),
            `  fix: ${printable(remedy)}`,
          ])
      : [],
  )

const locks = (rows: readonly StatusRow[]): readonly string[] => {
  const held = rows.flatMap((row) => {
    if (!('status' in row)) return []
    const holder = holderOf(row.status.self)
    return holder === null ? [] : [`${row.host} (${holder})`]
  })
  return held.length === 0 ? [] : [`locked: ${held.map(printable).join(', ')}`]
}

// Each names its host, and a wrong password is wrong on all of them.
const refusalsShown = 3

const withoutRoot = (rows: readonly StatusRow[]): readonly string[] => {
  const hosts = rows.filter((row) => row.withoutRoot)
  if (hosts.length === 0) return []
  const refusals = [...new Set(hosts.flatMap(({ sudo }) => (sudo === undefined ? [] : [sudo])))]
  return [
    `read without root, so in part: ${hostList(hosts)}`,
    ...refusals.slice(0, refusalsShown).map((why) => `  ${printable(why)}`),
    ...(refusals.length > refusalsShown ? [`  and ${refusals.length - refusalsShown} more of the kind`] : []),
    '  fix: Log in as root, or add -b, with -K where sudo wants a password.',
  ]
}

const nextLines = (rows: readonly StatusRow[], { inventory, connection }: SummaryLook): readonly string[] => {
  const sources = [
    ...inventory.map((source) => ` -i ${word(source)}`),
    ...connection.map((each) => ` ${each.startsWith('-') ? each : word(each)}`),
  ].join('')
  const fixes = new Map<string, StatusRow[]>()
  for (const row of rows)
    if ('status' in row && row.status.fix !== null)
      fixes.set(row.status.fix, [...(fixes.get(row.status.fix) ?? []), row])
  return [...fixes].map(([fix, hosts]) => {
    if (hosts.length <= namedHosts)
      return `next: drover run ${fix}${sources} -l ${word(hosts.map(({ host }) => host).join(','))} --check`
    return `next: drover status${sources} --where fix=${fix} -o names > ${fix}.txt && drover run ${fix}${sources} -l @${fix}.txt --check`
  })
}

/** `8 healthy, 3 stuck`: the most frequent first. */
const tally = <T>(items: readonly T[], nameOf: (item: T) => string): string => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1)
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([name, count]) => `${count} ${printable(name)}`)
    .join(', ')
}
