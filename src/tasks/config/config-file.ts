import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import { type Fact, probeKey } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Secret } from '../../secret.ts'
import { configFile } from '../agent/paths.ts'
import { isOwnedSo } from '../general/owner.ts'
import { inTheWay } from '../general/refusals.ts'
import { saidByAgent } from '../install/own-preflight.ts'
import { isSameConfig } from './render.ts'

const backup = `${configFile}.drover-backup`
export const configSizeLimit = 1_048_576
const closed = { mode: 0o600, owner: 'root:root' } as const

export const configFileFacts = (): Fact[] => [
  { kind: 'path', path: configFile, content: configSizeLimit, sha256: true, secret: true },
  { kind: 'path', path: backup, sha256: true, secret: true },
]

export interface FileChanges {
  /** What may be done while the agent runs: permissions, and the old file kept aside. */
  readonly staging: readonly Change[]
  readonly writes: readonly Change[]
}

/** The file whole or not at all, and what was there before beside it. The same in another form is left as it is. */
export const configFileChanges = (view: HostView, wanted: Secret): FileChanges | ErrorDetails => {
  const inPlace = [configFile, backup].find((path) => !['file', 'absent'].includes(view.node(path).type))
  if (inPlace !== undefined) return inTheWay(inPlace, view.node(inPlace), 'a file')
  if (isSameConfig(view.text(configFile) ?? '', wanted.reveal())) return { staging: closedConfig(view), writes: [] }
  return {
    staging: keptAside(view),
    writes: [
      {
        kind: 'write',
        path: configFile,
        content: wanted,
        ...closed,
        spoils: [...saidByAgent, probeKey('api-server', []), probeKey('config-secret', [configFile])],
      },
    ],
  }
}

/** It is full of secrets (domain.md 9.6). */
export const closedConfig = (view: HostView): Change[] => {
  const node = view.node(configFile)
  return node.type !== 'file' || isOwnedSo(node, closed) ? [] : [{ kind: 'attributes', path: configFile, ...closed }]
}

const keptAside = (view: HostView): Change[] => {
  const node = view.node(configFile)
  const digest = view.sha256(configFile)
  if (node.type !== 'file' || digest === null || view.sha256(backup) === digest) return []
  return [{ kind: 'copy', from: configFile, sha256: digest, size: node.size, path: backup, ...closed }]
}
