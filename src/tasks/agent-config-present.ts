import { z } from 'zod'
import type { Change } from '../changes/change.ts'
import type { ErrorDetails } from '../errors.ts'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import { isCleanPath } from '../facts/tree.ts'
import type { HostView } from '../facts/view.ts'
import { warning } from './agent/finding.ts'
import { configDirectory, configFile } from './agent/paths.ts'
import { isInstalled, serviceFacts } from './agent/service.ts'
import { isRoot } from './agent/visible.ts'
import { dig } from './config/dig.ts'
import { agentDirectories, agentDirectoriesFacts } from './config/directories.ts'
import { configShape, givenConfig, maySecret, validConfig } from './config/given.ts'
import { placeConfig, placeFacts } from './config/place.ts'
import { serialised } from './config/render.ts'
import { configProblems, unknownKeys } from './config/schema.ts'
import { placeSecret, secretFileFacts, secretPaths, secretRefusal } from './config/secret-file.ts'
import { mountRefusal } from './general/refusals.ts'
import { needsRoot } from './install/host-fit.ts'
import { blocked, type Finding, type Planned, planned, type Task } from './task.ts'

const params = z
  .strictObject({
    ...configShape,
    client_secret: maySecret
      .default('')
      .describe(
        'The secret of the service principal, or its certificate with the key; goes into the file that azure.servicePrincipal.clientSecretFile names',
      ),
  })
  .superRefine((given, context) => {
    validConfig(given, context)
    if (given.client_secret === '') return
    const file = secretFileOf(given)
    if (file !== null && secretPaths.includes(file)) return
    context.addIssue({
      code: 'custom',
      path: ['client_secret'],
      message: `There is no place for the secret.\nLet azure.servicePrincipal.clientSecretFile be one of ${secretPaths.join(', ')}.`,
    })
  })

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
      ...serviceFacts(),
      ...placeFacts(),
      ...agentDirectoriesFacts(),
      { kind: 'mount', path: configDirectory },
      ...[secretFileOf(given)].flatMap((path) => (path === null ? [] : secretFileFacts(path))),
    ]),
  plan: (view, given): Planned => {
    if (!isRoot(view)) return blocked(needsRoot)
    const whole = givenConfig(given)
    if (whole === null) return keepsWhatIsThere(view)
    const findings = unknownKeys(whole).map(unknownKey)
    // The secret before the configuration that names it.
    const files = [secretChanges(view, given), placeConfig(view, serialised(whole))]
    const refusal = files.find((each): each is ErrorDetails => 'code' in each)
    if (refusal !== undefined) return blocked(refusal, findings)
    return finish(
      view,
      files.flatMap((each) => ('code' in each ? [] : each)),
      findings,
    )
  },
}

const finish = (view: HostView, changes: readonly Change[], findings: readonly Finding[]): Planned => {
  if (isInstalled(view)) return changes.length === 0 ? planned([], findings) : blocked(needsConfigure, findings)
  const directories = agentDirectories(view)
  if ('code' in directories) return blocked(directories, findings)
  const all = [...directories, ...changes]
  const unready = all.length === 0 ? null : mountRefusal(configFile, view.mount(configDirectory), 65_536)
  return unready === null ? planned(all, findings) : blocked(unready, findings)
}

const keepsWhatIsThere = (view: HostView): Planned => {
  const text = view.text(configFile)
  if (text === null) return blocked(noneGiven)
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch {
    return blocked(invalid('it is no JSON'))
  }
  const [problem] = configProblems(config)
  return problem === undefined
    ? finish(view, [], unknownKeys(config).map(unknownKey))
    : blocked(invalid(`${problem.path} ${problem.message}`))
}

/** The file that the given configuration names; null: none, or none that is a path. */
function secretFileOf(given: Pick<Params, 'config' | 'base'>): string | null {
  const path = dig(givenConfig(given), 'azure.servicePrincipal.clientSecretFile')
  return typeof path === 'string' && isCleanPath(path) && path !== '/' ? path : null
}

const secretChanges = (view: HostView, given: Params): Change[] | ErrorDetails => {
  const path = secretFileOf(given)
  if (path === null) return []
  if (given.client_secret !== '') return placeSecret(view, path, given.client_secret)
  return secretRefusal(view, path) ?? []
}

const unknownKey = (key: string): Finding =>
  warning({
    check: 'config-key-unknown',
    target: configFile,
    message: `${key} is no setting that drover knows of; it is kept as it is`,
    remedy: 'If it is not one of a newer agent, look whether it is spelt rightly.',
  })

const noneGiven: ErrorDetails = {
  code: 'config-invalid',
  message: `No configuration is given, and the host has no ${configFile}.`,
  remedy: 'Give the variable `config` (or `base`), in the inventory or with -e @FILE; docs/install.md shows how.',
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
