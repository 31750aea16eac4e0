import { printable } from '../printable.ts'
import type { StatusRow } from './status-row.ts'

export const namedHosts = 10

/** The first few by name, and how many more. */
export const hostList = (rows: readonly StatusRow[]): string => {
  const named = rows.slice(0, namedHosts).map(({ host }) => printable(host))
  return named.join(', ') + (rows.length > named.length ? ` and ${rows.length - named.length} more` : '')
}
