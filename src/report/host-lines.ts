import { printable } from '../printable.ts'
import type { HostReport } from './host-report.ts'
import { counted, duration, type Look } from './paint.ts'
import { errorLines } from './step-lines.ts'
import { unreachable } from './unreachable.ts'

/** What is said when a host comes to its end: nothing that its steps have said already. */
export const hostEndLines = (host: HostReport, look: Look): readonly string[] => {
  const name = `[${printable(host.name)}]`
  const ended = `ended: ${name} ${host.outcome}, ${counted(host.changes, 'change')} in ${duration(host.ms ?? 0)}`
  const verbose = look.verbose > 0 ? [ended] : []
  switch (host.outcome) {
    case 'unchanged':
    case 'changed':
    case 'would-change':
    case null:
      return verbose
    case 'skipped':
      return host.error === null
        ? verbose
        : [look.paint('skipped', `skipping: ${name} (${printable(host.error.message)})`)]
    case 'failed':
    case 'blocked':
      return [...(wasSaid(host) ? [] : endLines(`${host.outcome}: ${name}`, host, look)), ...verbose]
    case 'unreachable':
    case 'cancelled':
      return [...endLines(`${host.outcome}: ${name}`, host, look), ...verbose]
    case 'rolled-back':
      return [
        ...(wasSaid(host) ? [look.paint('bad', `rolled back: ${name}`)] : endLines(`rolled back: ${name}`, host, look)),
        ...verbose,
      ]
    default:
      return unreachable(host.outcome)
  }
}

const endLines = (head: string, { error }: HostReport, look: Look): readonly string[] =>
  error === null ? [look.paint('bad', head)] : errorLines(head, error, look)

const wasSaid = ({ error, steps }: HostReport): boolean =>
  error !== null && steps.some((step) => step.error?.code === error.code && step.error.message === error.message)
