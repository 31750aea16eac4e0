import { Secret } from '../secret.ts'
import { isMapping } from '../tasks/config/render.ts'

export interface RuleFault {
  readonly path: readonly string[]
  readonly message: string
  readonly remedy: string
}

type Rule = (given: Readonly<Record<string, unknown>>) => readonly RuleFault[]

const has = (given: Readonly<Record<string, unknown>>, key: string): boolean =>
  Object.hasOwn(given, key) && given[key] !== undefined && given[key] !== null

const at = (key: string, message: string, remedy: string): RuleFault => ({ path: [key], message, remedy })

const principal: Rule = (given) => {
  const own = ['sp_tenant_id', 'sp_client_id', 'sp_client_secret', 'sp_client_certificate']
  if (given.auth !== 'service-principal') {
    return own
      .filter((key) => has(given, key))
      .map((key) => at(key, 'Only a service principal has it.', 'Write auth: service-principal, or leave it out.'))
  }
  const proofs = ['sp_client_secret', 'sp_client_certificate'].filter((key) => has(given, key)).length
  return [
    ...['sp_tenant_id', 'sp_client_id']
      .filter((key) => !has(given, key))
      .map((key) => at(key, 'It is missing: a service principal has one.', `Add ${key}.`)),
    ...(proofs === 1
      ? []
      : [
          at(
            'auth',
            `A service principal proves itself in one way, and here ${proofs === 0 ? 'is none' : 'are two'}.`,
            'Give either sp_client_secret or sp_client_certificate.',
          ),
        ]),
  ]
}

const identity: Rule = (given) =>
  has(given, 'msi_client_id') && given.auth !== 'msi'
    ? [at('msi_client_id', 'Only a managed identity has it.', 'Write auth: msi, or leave it out.')]
    : []

/** Without base config the host has nothing to join with but what it fetches. */
const origin: Rule = (given) => {
  if (given.fetch_bootstrap_data === true) {
    return ['auth', 'cluster_resource_id', 'agent_pool_name']
      .filter((key) => !has(given, key))
      .map((key) => at(key, 'It is missing: bootstrap data cannot be fetched without it.', `Add ${key}.`))
  }
  return has(given, 'base_config')
    ? []
    : [
        {
          path: [],
          message: 'There is nothing to make config.json from.',
          remedy: 'Give base_config, or fetch_bootstrap_data: true with auth, cluster_resource_id and agent_pool_name.',
        },
      ]
}

/** Overrides are a variable of the environment, where secrets stay as long as the bootstrap runs. */
const openOverrides: Rule = (given) =>
  holdsSecret(given.config_overrides)
    ? [at('config_overrides', 'A secret is in it, and it is not for secrets.', 'Move the secret into base_config.')]
    : []

const holdsSecret = (value: unknown): boolean =>
  value instanceof Secret ||
  (Array.isArray(value) && value.some(holdsSecret)) ||
  (isMapping(value) && Object.values(value).some(holdsSecret))

const script: Rule = (given) => {
  const [file, digest] = ['bootstrap_script', 'bootstrap_script_sha256'] as const
  if (has(given, file) === has(given, digest)) return []
  return has(given, file)
    ? [at(digest, 'It is missing: a script is embedded only if it is what was meant.', `Add ${digest}.`)]
    : [at(digest, 'There is no script that it would be of.', `Add ${file}, or leave it out.`)]
}

const rules: readonly Rule[] = [principal, identity, origin, openOverrides, script]

/** What no key can say by itself. Asked of what has other faults, too, so that all are told at once. */
export const provisionFaults = (given: unknown): readonly RuleFault[] =>
  isMapping(given) ? rules.flatMap((rule) => rule(given)) : []
