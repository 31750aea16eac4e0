import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { InputFault } from '../errors.ts'
import { InputError } from '../errors.ts'
import { buildInventory } from './build.ts'
import type { Inventory } from './host.ts'
import { readLiteral } from './literal.ts'
import type { FaultList } from './positions.ts'
import { faultAt, faultList } from './positions.ts'
import type { ReadFile } from './read-text.ts'
import { readText } from './read-text.ts'
import type { Source } from './source.ts'
import { emptyLevel } from './source.ts'
import { readYamlSource } from './source-yaml.ts'

export interface ReadInventoryOptions {
  readonly defaultUser: string
  readonly cwd: string
  readonly home: string
  readonly readFile?: ReadFile
}

/** Sources with a comma are lists of hosts, all others are files. Throws one InputError with all faults of all sources. */
export const readInventory = (names: readonly string[], options: ReadInventoryOptions): Inventory => {
  const missing: InputFault[] = []
  const list = faultList()
  const sources = names.flatMap((name) => readSource(name, options, { missing, list }))
  // A host of a file that could not be read is not unknown.
  if (sources.length < names.length)
    sources.push({ name: '', level: emptyLevel, hosts: [], groups: [], complete: false })
  const inventory = buildInventory(sources, options.defaultUser, list)
  const faults = [...missing, ...list.faults].sort(byPlace(names))
  if (faults.length > 0)
    throw new InputError(list.faults.length > 0 ? 'inventory-invalid' : 'inventory-not-found', faults)
  if (inventory.hosts.length > 0) return inventory
  const files = names.length > 0 ? names : ['inventory']
  throw new InputError('inventory-empty', files.map(emptyFault))
}

const readSource = (
  name: string,
  { cwd, home, readFile = readFileSync }: ReadInventoryOptions,
  { missing, list }: { missing: InputFault[]; list: FaultList },
): Source[] => {
  if (name.includes(',')) return withFaults(readLiteral(name), list)
  const path = resolve(cwd, name)
  const read = readText(path, name, readFile)
  if ('text' in read) return withFaults(readYamlSource(name, read.text, { directory: dirname(path), home }), list)
  if (read.missing) missing.push(withListHint(name, read.fault))
  else list.add(read.fault)
  return []
}

/** `-i web1` means a file, and Ansible's trailing comma is easily forgotten. */
const withListHint = (name: string, fault: InputFault): InputFault =>
  /[/]|\.(ya?ml|json)$/.test(name) ? fault : { ...fault, remedy: `${fault.remedy} For a host write "${name},".` }

const withFaults = (read: { source: Source; faults: readonly InputFault[] }, list: FaultList): Source[] => {
  for (const fault of read.faults) list.add(fault)
  return [read.source]
}

const byPlace = (names: readonly string[]) => {
  const order = new Map(names.map((name, index) => [name, index]))
  return (a: InputFault, b: InputFault): number =>
    (order.get(a.file) ?? 0) - (order.get(b.file) ?? 0) ||
    (a.line ?? 0) - (b.line ?? 0) ||
    (a.column ?? 0) - (b.column ?? 0)
}

const emptyFault = (file: string): InputFault =>
  faultAt({ file, line: 1, column: 1 }, 'There is no host here.', 'Declare at least one host under hosts:.')
