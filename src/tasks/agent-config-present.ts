import { z } from 'zod'
import type { Change } from '../changes/change.ts'
import type { ErrorDetails } from '../errors.ts'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import { isCleanPath } from '../facts/tree.ts'
import type { HostView } from '../facts/view.ts'
import { warning } from './agent/finding.ts'
import { configDirectory, configFile } from './agent/paths.ts'
import { isInstalled } from './agent/service.ts'
import { isRoot } from './agent/visible.ts'
import { closedConfig, configFileChanges, configFileFacts } from './config/config-file.ts'
import { dig } from './config/dig.ts'
import { agentDirectories, agentDirectoriesFacts } from './config/directories.ts'
import { configShape, givenConfig, parsed, validConfig } from './config/given.ts'
import { keptSecret, keptSecretFacts } from './config/kept-secret.ts'
import { serialised } from './config/render.ts'
import { configProblems, unknownKeys } from './config/schema.ts'
import { secretFault, secretFileChanges, secretFilesFacts, secretFilesParam } from './config/secret-files.ts'
import { inTheWay, mountRefusal } from './general/refusals.ts'
import { bootstrapping, hostFacts, needsRoot } from './install/host-fit.ts'
import { blocked, type Finding, type Planned, planned, type Task } from './task.ts'

const params = z
  .strictObject({
    ...configShape(
      'Sections of config.json, laid over content where that is given: mappings are joined, all else is replaced. Values may be secrets. Without both, what the host has is kept',
    ),
    secret_files: secretFilesParam,
  })
  .superRefine(validConfig)

type Params = z.output<typeof params>

/** The first configuration of a host. On a host with an agent it is only looked at: another one needs a restart, and a way back. */
export const agentConfigPresent: Task<Params> = {
  name: 'agent-config-present',
  summary:
    "The agent's config.json is there with mode 0600 and is valid, and so are its directories and its secret file.",
  params,
  example: `name: first-config
description: Give hosts that have no agent yet their configuration
steps:
  - task: agent-config-present
    with:
      config:
        azure:
          targetCluster:
            resourceId: /subscriptions/44654aed-2753-4b88-9142-af7132933b6b/resourceGroups/edge/providers/Microsoft.ContainerService/managedClusters/prod
          managedIdentity: {}
`,
  facts: (given): Fact[] =>
    mergeFacts([
      ...hostFacts(),
      ...configFileFacts(),
      ...agentDirectoriesFacts(),
      ...secretFilesFacts(given.secret_files),
      ...keptSecretFacts(),
      { kind: 'mount', path: configDirectory },
      ...[secretFileOf(givenConfig(given))].flatMap((path): Fact[] =>
        path === null ? [] : [{ kind: 'path', path, secret: true }],
      ),
    ]),
  plan: (view, given): Planned => {
    const unfit = isRoot(view) ? bootstrapping(view) : needsRoot
    if (unfit !== null) return blocked(unfit)
    const whole = givenConfig(given)
    const config = whole === null ? keptConfig(view, given) : newConfig(view, given, whole)
    if ('code' in config) return blocked(config)
    const secrets = secretFileChanges(view, given.secret_files)
    if ('code' in secrets) return blocked(secrets, config.findings)
    // The secrets before the configuration that names them.
    const changes = [...secrets.staging, ...secrets.writes, ...config.changes]
    return finish(view, changes, config.findings)
  },
}

interface Config {
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
}

const finish = (view: HostView, changes: readonly Change[], findings: readonly Finding[]): Planned => {
  // Closing a file needs no restart, and so no way back.
  if (isInstalled(view))
    return changes.every(({ kind }) => kind === 'attributes')
      ? planned(changes, findings)
      : blocked(needsConfigure, findings)
  const directories = agentDirectories(view)
  if ('code' in directories) return blocked(directories, findings)
  const all = [...directories, ...changes]
  const unready = all.length === 0 ? null : mountRefusal(configFile, view.mount(configDirectory), 65_536)
  return unready === null ? planned(all, findings) : blocked(unready, findings)
}

const newConfig = (view: HostView, given: Params, whole: unknown): Config | ErrorDetails => {
  const path = secretFileOf(whole)
  const fault = path === null || isGiven(given, path) ? null : secretFault(path, view.node(path))
  if (fault !== null) return fault
  const file = configFileChanges(view, serialised(whole))
  if ('code' in file) return file
  return { changes: [...file.staging, ...file.writes], findings: unknownKeys(whole).map(unknownKey) }
}

/** Nobody but root may have written it: the agent does as root what it says. */
const keptConfig = (view: HostView, given: Params): Config | ErrorDetails => {
  const node = view.node(configFile)
  if (node.type === 'absent') return noneGiven
  if (node.type !== 'file') return inTheWay(configFile, node, 'a file')
  if (node.uid !== 0) return notRoots(node.user || String(node.uid))
  const config = parsed(view.text(configFile) ?? '')
  if (config === undefined) return invalid('it is no JSON')
  const [problem] = configProblems(config)
  if (problem !== undefined) return invalid(`${problem.path} ${problem.message}`)
  const path = secretFileOf(config)
  const secret = path === null || isGiven(given, path) ? null : keptSecret(view, path)
  if (secret !== null && 'code' in secret) return secret
  return {
    changes: closedConfig(view),
    findings: [...unknownKeys(config).map(unknownKey), ...(secret === null ? [] : [secret])],
  }
}

/** The file that a configuration names; null: none, or none that is a path. */
function secretFileOf(config: unknown): string | null {
  const path = dig(config, 'azure.servicePrincipal.clientSecretFile')
  return typeof path === 'string' && isCleanPath(path) && path !== '/' ? path : null
}

const isGiven = ({ secret_files }: Params, wanted: string): boolean => secret_files.some(({ path }) => path === wanted)

const unknownKey = (key: string): Finding =>
  warning({
    check: 'config-key-unknown',
    target: configFile,
    message: `${key} is no setting that drover knows of; it is kept as it is`,
    remedy: 'If it is not one of a newer agent, look whether it is spelt rightly.',
  })

const notRoots = (user: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${configFile} is a file of ${user}, and the agent would do as root what it says. It was left alone.`,
  remedy: `Look at what it says. If it is right: chown root:root ${configFile}. Or give a configuration (config): what is there is kept beside it.`,
})

const noneGiven: ErrorDetails = {
  code: 'config-invalid',
  message: `No configuration is given, and the host has no ${configFile}.`,
  remedy: 'Give the variable `config` (or `content`), in the inventory or with -e @FILE; docs/install.md shows how.',
}

const invalid = (why: string): ErrorDetails => ({
  code: 'config-invalid',
  message: `${configFile} on the host is not valid: ${why}.`,
  remedy: 'Correct it, or give a whole configuration (`config`): what is there is kept beside it.',
})

const needsConfigure: ErrorDetails = {
  code: 'already-installed',
  message: `The host has an agent, and its configuration (${configFile}, or the secret file) is not the one that is given. Nothing was changed.`,
  remedy:
    'Run the playbook configure: it changes the configuration with a restart that is undone unless it comes out well.',
}
