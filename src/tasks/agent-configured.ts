import { z } from 'zod'
import type { Change } from '../changes/change.ts'
import { contentBytes, sha256 } from '../changes/predict.ts'
import type { ErrorDetails } from '../errors.ts'
import { mergeFacts } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { Secret } from '../secret.ts'
import { armedBefore } from './switch/armed-before.ts'
import { configChanges, configFileFacts } from './switch/config-file.ts'
import { switchFacts } from './switch/facts.ts'
import { guarded } from './switch/guarded.ts'
import { enoughTime, limitsShape } from './switch/limits.ts'
import { notProved } from './switch/proof.ts'
import { type Ready, readReady } from './switch/ready.ts'
import { restartOf } from './switch/restart.ts'
import { secretFileChanges, secretFileParam, secretFilesFacts } from './switch/secret-files.ts'
import { disturbance } from './switch/undisturbed.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z
  .strictObject({
    config: z
      .record(z.string(), z.unknown())
      .nullable()
      .default(null)
      .describe(
        'What is to be laid over the config.json of the host: mappings are joined, all else is replaced. Values may be secrets',
      ),
    content: z
      .union([z.string(), z.custom<Secret>((value) => value instanceof Secret)])
      .nullable()
      .default(null)
      .describe('Instead of config: all of config.json, as a text or, better, a secret'),
    secret_files: z
      .array(secretFileParam)
      .default([])
      .describe('Files in /etc/aks-flex-node/credentials that config.json names: a path, and a secret as content'),
    ...limitsShape,
  })
  .superRefine((wanted, context) => {
    enoughTime(wanted, context)
    if (wanted.config !== null && wanted.content !== null)
      context.addIssue({ code: 'custom', message: 'There is both config and content.\nGive one of them.' })
    if (wanted.config === null && wanted.content === null && wanted.secret_files.length === 0)
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

interface Missing {
  readonly staging: readonly Change[]
  readonly writes: readonly Change[]
}

const missingOf = (view: HostView, wanted: Params): Missing | ErrorDetails => {
  const files = secretFileChanges(view, wanted.secret_files)
  if ('code' in files) return files
  const config = configChanges(view, wanted)
  if ('code' in config) return config
  return {
    staging: [...files.staging, ...config.staging],
    // The credentials first: the configuration may name them.
    writes: [...files.writes, ...config.writes],
  }
}

const guardedWrites = (view: HostView, ready: Ready, wanted: Params, missing: Missing): Change[] | ErrorDetails => {
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
