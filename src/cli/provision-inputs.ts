import { resolve } from 'node:path'
import { checkShape, type ShapeFault } from '../inventory/check-shape.ts'
import type { Host, Vars } from '../inventory/host.ts'
import { quoted } from '../inventory/names.ts'
import { secretReader } from '../inventory/secret-reader.ts'
import { scopeOf } from '../playbook/scope.ts'
import { suggester } from '../playbook/suggest.ts'
import { isMap, type Value } from '../playbook/value.ts'
import { resolver } from '../playbook/variables.ts'
import { configFaults } from '../provision/config.ts'
import { type Inputs, inputsShape } from '../provision/inputs.ts'
import { provisionFaults } from '../provision/rules.ts'
import { type AgentSource, agentSource } from '../provision/source.ts'
import type { CliContext } from './context.ts'
import type { ProvisionFaults } from './provision-faults.ts'
import { secretSources } from './secret-sources.ts'

export interface HostInputs extends Inputs {
  readonly host: Host
  readonly source: AgentSource
}

const reference = (name: string): string => `\${${name}}`
const asked = { agent: reference('agent'), provision: reference('provision') }

/** The variables that a host is provisioned by; a host on which something is wrong is left out, and told to `faults`. */
export const readInputs = (
  context: Pick<CliContext, 'cwd' | 'env'>,
  hosts: readonly Host[],
  extraVars: Vars,
  faults: ProvisionFaults,
): readonly HostInputs[] => {
  const sources = secretSources(context)
  const readSecret = secretReader({ ...sources, readFile: (path) => sources.readFile(resolve(context.cwd, path)) })
  const suggest = suggester()
  return hosts.flatMap((host) => {
    const scope = scopeOf({ defaults: {}, host, vars: {}, extraVars })
    const outcome = resolver({ scope, readSecret, suggest })(asked)
    if (!('problems' in outcome)) return checked(host, outcome.value, faults)
    for (const { inside, path, message, remedy, code } of outcome.problems) {
      const own = code === 'playbook-invalid' ? {} : { code }
      faults.add({ ...own, place: inside ?? path.join('.'), message, remedy }, host.name)
    }
    return []
  })
}

const checked = (host: Host, value: Value, faults: ProvisionFaults): HostInputs[] => {
  const tell = (place: readonly PropertyKey[], message: string, remedy: string): void =>
    faults.add({ place: place.map(String).join('.'), message, remedy }, host.name)
  const shape = checkShape(inputsShape, value)
  for (const fault of shape.faults) tell(...wordsOf(fault))
  const places = new Set(shape.faults.map(({ path }) => path.join('.')))
  const rules = provisionFaults(isMap(value) ? value.provision : undefined)
  const others = rules.filter(({ path }) => !places.has(['provision', ...path].join('.')))
  for (const { path, message, remedy } of others) tell(['provision', ...path], message, remedy)
  if (shape.value === undefined) return []
  const { agent, provision } = shape.value
  const found = agentSource(agent, provision.architecture)
  if ('fault' in found) tell(found.fault.path, found.fault.message, found.fault.remedy)
  if (others.length === 0)
    for (const { path, message, remedy } of configFaults(provision)) tell(['provision', ...path], message, remedy)
  return 'source' in found && others.length === 0 ? [{ host, agent, provision, source: found.source }] : []
}

const wordsOf = (fault: ShapeFault): [readonly PropertyKey[], string, string] =>
  'key' in fault
    ? [
        fault.path,
        `${quoted(fault.key)} is not a key that is known here.`,
        `The keys here are: ${fault.known.join(', ')}.`,
      ]
    : [fault.path, fault.message, fault.remedy]
