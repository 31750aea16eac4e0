import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import { probeKey } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Secret } from '../../secret.ts'
import { configFile } from '../agent/paths.ts'
import { isOwnedSo } from '../general/owner.ts'
import { inTheWay } from '../general/refusals.ts'
import { saidByAgent } from '../install/own-preflight.ts'
import { isSameConfig } from './render.ts'

const configBackup = `${configFile}.drover-backup`
const sizeLimit = 1_048_576
const secretFile = { mode: 0o600, owner: 'root:root' } as const

export const placeFacts = (): Fact[] => [
  { kind: 'path', path: configFile, content: sizeLimit, sha256: true, secret: true },
  { kind: 'path', path: configBackup, sha256: true, secret: true },
]

/** Whether the host has this very configuration, however it is written. */
const hasConfig = (view: HostView, wanted: Secret): boolean =>
  isSameConfig(view.text(configFile) ?? '', wanted.reveal())

/** The file whole or not at all, and what was there before beside it. */
export const placeConfig = (view: HostView, wanted: Secret): Change[] | ErrorDetails => {
  const node = view.node(configFile)
  if (node.type !== 'absent' && node.type !== 'file') return inTheWay(configFile, node, 'a file')
  const backup = view.node(configBackup)
  if (backup.type !== 'absent' && backup.type !== 'file') return inTheWay(configBackup, backup, 'a file')
  if (node.type === 'file' && hasConfig(view, wanted))
    return isOwnedSo(node, secretFile) ? [] : [{ kind: 'attributes', path: configFile, ...secretFile }]
  return [
    ...backedUp(view),
    {
      kind: 'write',
      path: configFile,
      content: wanted,
      ...secretFile,
      spoils: [...saidByAgent, probeKey('api-server', [])],
    },
  ]
}

const backedUp = (view: HostView): Change[] => {
  const node = view.node(configFile)
  const digest = view.sha256(configFile)
  if (node.type !== 'file' || digest === null || view.sha256(configBackup) === digest) return []
  return [{ kind: 'copy', from: configFile, sha256: digest, size: node.size, path: configBackup, ...secretFile }]
}
