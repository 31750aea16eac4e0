import { z } from 'zod'
import type { Change } from '../changes/change.ts'
import { contentBytes, sha256 } from '../changes/predict.ts'
import type { ErrorDetails } from '../errors.ts'
import { mergeFacts } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { Secret } from '../secret.ts'
import { configFileChanges, configFileFacts, type FileChanges } from './config/config-file.ts'
import { configShape, hasContent, validConfig } from './config/given.ts'
import { laidOver } from './config/laid-over.ts'
import { secretFileChanges, secretFilesFacts, secretFilesParam } from './config/secret-files.ts'
import { armedBefore } from './switch/armed-before.ts'
import { switchFacts } from './switch/facts.ts'
import { guarded } from './switch/guarded.ts'
import { enoughTime, limitsShape } from './switch/limits.ts'
import { notProved } from './switch/proof.ts'
import { type Ready, readReady } from './switch/ready.ts'
import { restartOf } from './switch/restart.ts'
import { disturbance } from './switch/undisturbed.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z
  .strictObject({
    ...configShape(
      'Laid over content where that is given, else over the config.json of the host: mappings are joined, all else is replaced. Values may be secrets',
    ),
    secret_files: secretFilesParam,
    ...limitsShape,
  })
  .superRefine((wanted, context) => {
    enoughTime(wanted, context)
    if (hasContent(wanted)) validConfig(wanted, context)
    else if (wanted.config === null && wanted.secret_files.length === 0)
      context.addIssue({
        code: 'custom',
        message: 'Nothing is to be configured.\nGive config, content or secret_files.',
      })
  })

type Params = z.output<typeof params>

/** The agent reads its configuration when it starts, so a change of it is guarded and proved as an upgrade is (O-9). */
export const agentConfigured: Task<Params> = {
  name: 'agent-configured',
  summary:
    'The agent runs with this configuration and these credentials, seen to stay up; otherwise the host goes back by itself.',
  params,
  example: `name: rotate
description: Give the agent another log level and another secret of its service principal
vars:
  sp_secret: !secret env:SP_CLIENT_SECRET
steps:
  - task: agent-configured
    with:
      config: { agent: { logLevel: debug } }
      secret_files:
        - { path: /etc/aks-flex-node/credentials/sp-client-secret, content: "\${sp_secret}" }
`,
  facts: ({ secret_files }) => mergeFacts([...switchFacts(), ...configFileFacts(), ...secretFilesFacts(secret_files)]),
  plan: (view, wanted, host): Planned => {
    const armed = armedBefore(view, host, (candidate) => isConfigured(view, wanted, candidate))
    if (armed !== null) return armed
    const ready = readReady(view)
    if ('code' in ready) return blocked(ready)
    const missing = missingOf(view, wanted)
    if ('code' in missing) return blocked(missing)
    const { staging, writes } = missing
    if (staging.length + writes.length === 0) return satisfied(notProved(ready))
    const refusal = disturbance(view, ready)
    if (refusal !== null) return blocked(refusal)
    const changes = writes.length === 0 ? staging : guardedWrites(view, ready, wanted, missing)
    return 'code' in changes ? blocked(changes) : planned(changes, notProved(ready))
  },
}

const missingOf = (view: HostView, wanted: Params): FileChanges | ErrorDetails => {
  const files = secretFileChanges(view, wanted.secret_files)
  if ('code' in files) return files
  const text = laidOver(view, wanted)
  if ('code' in text) return text
  const config = configFileChanges(view, text)
  if ('code' in config) return config
  return {
    staging: [...files.staging, ...config.staging],
    // The credentials first: the configuration may name them.
    writes: [...files.writes, ...config.writes],
  }
}

const guardedWrites = (view: HostView, ready: Ready, wanted: Params, missing: FileChanges): Change[] | ErrorDetails => {
  const restart = restartOf(view, ready, { limits: wanted, exe: view.realPath(ready.startsPath), units: [] })
  if ('code' in restart) return restart
  const group = {
    what: 'configuration',
    candidate: digestOf(wanted),
    staging: missing.staging,
    switching: missing.writes,
    restart,
  }
  return guarded(view, ready, wanted, group)
}

/** What another run must want to take this change for its own. Of all that is wanted together, so that no secret has a digest of its own. */
const digestOf = ({ config, content, secret_files }: Params): string => {
  const plain = (value: unknown): unknown => (value instanceof Secret ? value.reveal() : value)
  const text = JSON.stringify([config, content, secret_files], function (this: Record<string, unknown>, key) {
    return plain(this[key])
  })
  return sha256(contentBytes(text))
}

const isConfigured = (view: HostView, wanted: Params, candidate: string): boolean => {
  if (candidate !== digestOf(wanted)) return false
  const ready = readReady(view)
  const missing = missingOf(view, wanted)
  if ('code' in ready || 'code' in missing) return false
  return ready.service.activeState === 'active' && missing.writes.length === 0
}
