import type { ErrorReport } from '../runner/events.ts'
import type { HostStatus } from '../tasks/agent/assess.ts'

/** One host in the table: its state, or why it could not be read. */
export type StatusRow = {
  readonly host: string
  /** Read without root: what only root may see is not known. */
  readonly withoutRoot: boolean
  /** Why sudo gave no root rights, where they were asked for. */
  readonly sudo?: string
} & ({ readonly status: HostStatus } | { readonly error: ErrorReport })

export const columns = [
  'host',
  'os',
  'systemd',
  'agent',
  'state',
  'root',
  'target',
  'worker',
  'verdict',
  'fix',
] as const
export type Column = (typeof columns)[number]

/** What stands in a row, as `--where` compares it. `?` is not known, `-` is none. */
export const cellsOf = (row: StatusRow): Readonly<Record<Column, string>> => {
  if ('error' in row) {
    const unknown = { os: '?', systemd: '?', agent: '?', state: '?', root: '?', target: '?', worker: '?' }
    return { host: row.host, ...unknown, verdict: row.error.code, fix: '-' }
  }
  const { os, systemdVersion, agent, hostRoot, target, worker, verdict, fix } = row.status
  return {
    host: row.host,
    os: os || '?',
    systemd: systemdVersion === null ? '?' : String(systemdVersion),
    agent: agent.installed ? (agent.version ?? '?') : '-',
    state: agent.installed ? (agent.state ?? '?') : '-',
    root: hostRoot,
    target: target === null ? '?' : `${target.state}/${target.enabled ? 'enabled' : target.fileState || 'disabled'}`,
    worker:
      worker === null
        ? agent.installed
          ? '?'
          : '-'
        : `${worker.machine} ${worker.state ?? '?'}${worker.isAssumed ? ' (?)' : ''}`,
    verdict,
    fix: fix ?? '-',
  }
}

export const isHealthy = (row: StatusRow): boolean => 'status' in row && row.status.verdict === 'healthy'
