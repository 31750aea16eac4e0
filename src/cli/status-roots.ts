import { type HostRootState, isHalfMoved } from '../tasks/agent/host-root.ts'
import { linkedWords } from '../tasks/agent/linked.ts'
import { rootWords } from '../tasks/agent/root-words.ts'
import { hostList } from './status-host-list.ts'
import type { StatusRow } from './status-row.ts'

/** Where hosts stand between the roots, if their verdict does not say: nobody should have to wonder. */
export const rootLines = (rows: readonly StatusRow[]): readonly string[] => {
  const notes = new Map<string, StatusRow[]>()
  for (const row of rows) {
    const note = rootNote(row)
    if (note !== null) notes.set(note, [...(notes.get(note) ?? []), row])
  }
  return [...notes].map(([note, hosts]) => `root: ${hostList(hosts)}: ${note}`)
}

const rootNote = (row: StatusRow): string | null => {
  if (!('status' in row) || !row.status.agent.installed) return null
  const { hostRoot, linked, remedy } = row.status
  if (linked !== null) return `LINKED, ${linked}: ${linkedWords[linked]}`
  // Where the verdict is about the root, all this stands in the host's own line already.
  if (remedy !== null || hostRoot === 'UNREADABLE') return null
  return isHalfMoved(hostRoot) || isOdd(hostRoot) ? rootWords(hostRoot) : null
}

const isOdd = (state: HostRootState): boolean => ['OPERATOR-LINK', 'CONFLICT', 'BLOCKED'].includes(state)
