import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { warning } from '../agent/finding.ts'
import { agentBinary, type HostRoot, hostRoots } from '../agent/paths.ts'
import { inTheWay } from '../general/refusals.ts'
import type { Finding } from '../task.ts'

const backupOf = (root: HostRoot): string => `${agentBinary(root)}.drover-backup`

export const keptBinaryFacts = (): Fact[] =>
  hostRoots.map((root): Fact => ({ kind: 'path', path: backupOf(root), sha256: true }))

export interface KeptBinary {
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
}

/** A plain binary gives way to the link. It may be the seed of an install.sh or an operator's own: nobody can say. */
export const keptBinary = (view: HostView, root: HostRoot, release: string): KeptBinary | ErrorDetails => {
  const path = agentBinary(root)
  const node = view.node(path)
  const sha256 = view.sha256(path)
  if (node.type !== 'file' || sha256 === null || sha256 === release) return { changes: [], findings: [] }
  const backup = backupOf(root)
  const kept = view.node(backup)
  if (kept.type !== 'absent' && kept.type !== 'file') return inTheWay(backup, kept, 'a file')
  const findings = [
    {
      ...warning({
        check: 'binary-replaced',
        target: path,
        message: `${path} was a binary of its own and none of this release: it gives way to a link and is kept as ${backup}`,
        remedy: `If nobody needs it, remove ${backup}.`,
      }),
      lasting: true,
    } as const,
  ]
  if (kept.type === 'file' && view.sha256(backup) === sha256) return { changes: [], findings }
  const { size, mode } = node
  return {
    changes: [{ kind: 'copy', from: path, sha256, size, path: backup, mode: mode & 0o755, owner: 'root:root' }],
    findings,
  }
}
