import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { configDirectory } from '../agent/paths.ts'
import { isOwnedSo } from '../general/owner.ts'
import { inTheWay } from '../general/refusals.ts'

const logDirectory = '/var/log/aks-flex-node'
const logFile = `${logDirectory}/aks-flex-node.log`
const directories = [configDirectory, '/var/lib/aks-flex-node', logDirectory]

export const agentDirectoriesFacts = (): Fact[] => [...directories, logFile].map((path) => ({ kind: 'path', path }))

/** As install.sh leaves them (domain.md 9.2). Only the one with secrets in it is put right where it is there already. */
export const agentDirectories = (view: HostView): Change[] | ErrorDetails => {
  const changes: Change[] = []
  const wanted = { mode: 0o755, owner: 'root:root' }
  for (const path of directories) {
    const node = view.node(path)
    if (node.type !== 'absent' && node.type !== 'directory') return inTheWay(path, node, 'a directory')
    if (node.type === 'absent') changes.push({ kind: 'directory', path, ...wanted })
    else if (path === configDirectory && !isOwnedSo(node, wanted)) changes.push({ kind: 'attributes', path, ...wanted })
  }
  const log = view.node(logFile)
  if (log.type === 'absent')
    changes.push({ kind: 'write', path: logFile, content: '', mode: 0o644, owner: 'root:root' })
  return changes
}
