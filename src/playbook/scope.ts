import type { Host, Vars, VarValue } from '../inventory/host.ts'
import { escapeReferences } from './reference.ts'

/** The one name that is drover's own: no playbook and no `-e` may define it. */
export const builtinName = 'host'

export interface Layers {
  readonly defaults: Vars
  readonly host: Host
  readonly vars: Vars
  readonly extraVars: Vars
}

/** The variables of one host, each from the strongest layer that has it. A mapping is replaced, never merged. */
export interface Scope {
  get(name: string): VarValue | undefined
  names(): string[]
}

export const scopeOf = ({ defaults, host, vars, extraVars }: Layers): Scope => {
  const layers = [{ [builtinName]: builtins(host) }, extraVars, vars, host.vars, defaults]
  return {
    get: (name) => layers.find((layer) => Object.hasOwn(layer, name))?.[name],
    names: () => [...new Set(layers.flatMap((layer) => Object.keys(layer)))],
  }
}

const builtins = ({ name, address, port, user, variant }: Host): VarValue => ({
  name: escapeReferences(name),
  address: escapeReferences(address),
  port,
  user: escapeReferences(user),
  variant,
})
