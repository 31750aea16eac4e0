import { resolve } from 'node:path'
import type { InputFault } from '../errors.ts'
import { foreignKeyRemedy } from './foreign-keys.ts'
import type { VarValue } from './host.ts'
import type { Located } from './positions.ts'
import { faultAt } from './positions.ts'
import type { SettingRule } from './schema.ts'
import { settingRules, varsSchema } from './schema.ts'
import type { GroupEntry, HostEntry, Level, Source } from './source.ts'
import { emptyLevel } from './source.ts'
import type { StrictYaml, YamlPath } from './strict-yaml.ts'
import { parseStrictYaml } from './strict-yaml.ts'

/** What paths in the file are relative to. */
interface Places {
  readonly directory: string
  readonly home: string
}

interface Reading {
  readonly yaml: StrictYaml
  readonly faults: InputFault[]
  readonly hostRules: Readonly<Record<string, SettingRule>>
  readonly groupRules: Readonly<Record<string, SettingRule>>
  /** Set where names may have been lost. */
  incomplete: boolean
}

/** drover's own YAML. Reads on after a fault, so that one run shows them all. */
export const readYamlSource = (
  name: string,
  text: string,
  places: Places,
): { source: Source; faults: InputFault[] } => {
  const yaml = parseStrictYaml(name, text)
  const { address, ...groupRules } = settingRules((path) => absolutePath(path, places))
  const hostRules = { ...(address && { address }), ...groupRules }
  const reading: Reading = {
    yaml,
    faults: [...yaml.faults],
    hostRules,
    groupRules,
    incomplete: yaml.value === undefined,
  }
  const isRead = yaml.value !== undefined && kindAt(reading, [], ['mapping']) === 'mapping'
  const level = isRead ? readLevel(reading, [], groupRules, ['hosts', 'groups']) : emptyLevel
  const hosts = isRead ? readHosts(reading, ['hosts']) : { declared: [], named: [] }
  const groups = isRead ? readGroups(reading) : []
  // At the top level there is nothing else that a list of names could refer to.
  const listed = hosts.named.map((host): HostEntry => ({ name: host, level: emptyLevel }))
  const source = { name, level, hosts: [...hosts.declared, ...listed], groups, complete: !reading.incomplete }
  return { source, faults: reading.faults }
}

const absolutePath = (path: string, { directory, home }: Places): string =>
  path === '~' || path.startsWith('~/') ? resolve(home, path.slice(2)) : resolve(directory, path)

type Kind = 'mapping' | 'list' | 'nothing'

const readGroups = (reading: Reading): GroupEntry[] => {
  if (kindAt(reading, ['groups'], ['mapping']) === 'nothing') return []
  return reading.yaml.keys(['groups']).map((name): GroupEntry => {
    const path = ['groups', name]
    const located = { value: name, at: reading.yaml.position(path, 'key') }
    if (kindAt(reading, path, ['mapping']) === 'nothing') {
      return { name: located, level: emptyLevel, hosts: [], members: [], children: [] }
    }
    const level = readLevel(reading, path, reading.groupRules, ['hosts', 'children'])
    const { declared, named } = readHosts(reading, [...path, 'hosts'])
    const isList = kindAt(reading, [...path, 'children'], ['list']) === 'list'
    const children = isList ? readNames(reading, [...path, 'children']) : []
    return { name: located, level, hosts: declared, members: named, children }
  })
}

/** Hosts stand in a mapping with their settings, or in a list as names alone. */
const readHosts = (reading: Reading, path: YamlPath): { declared: HostEntry[]; named: Located<string>[] } => {
  const kind = kindAt(reading, path, ['mapping', 'list'])
  if (kind === 'list') return { declared: [], named: readNames(reading, path) }
  const declared = reading.yaml.keys(path).map((name): HostEntry => {
    const at = reading.yaml.position([...path, name], 'key')
    const isMapping = kindAt(reading, [...path, name], ['mapping']) === 'mapping'
    const level = isMapping ? readLevel(reading, [...path, name], reading.hostRules, []) : emptyLevel
    return { name: { value: name, at }, level }
  })
  return { declared, named: [] }
}

const readNames = (reading: Reading, path: YamlPath): Located<string>[] => {
  const items = reading.yaml.at(path) as readonly unknown[]
  return items.flatMap((item, index) => {
    const at = reading.yaml.position([...path, index])
    if (typeof item === 'string') return [{ value: item, at }]
    if (path[0] === 'hosts') reading.incomplete = true
    if (item === undefined) return []
    reading.faults.push(
      faultAt(at, 'A name in a list is a text.', 'Write one name per item, in quotes if it is a number.'),
    )
    return []
  })
}

const readLevel = (
  { yaml, faults }: Reading,
  path: YamlPath,
  rules: Readonly<Record<string, SettingRule>>,
  structure: readonly string[],
): Level => {
  const settings: Record<string, Located<unknown>> = {}
  let vars: Level['vars'] = {}
  for (const key of yaml.keys(path)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (structure.includes(key)) continue
    if (key === 'vars') vars = readVars(yaml, [...path, key], faults)
    else if (rule === undefined) faults.push(unknownKey(yaml, path, key, [...Object.keys(rules), 'vars', ...structure]))
    else {
      const checked = yaml.check(rule.schema, [...path, key])
      faults.push(...checked.faults)
      if ('value' in checked) settings[rule.field] = { value: checked.value, at: yaml.position([...path, key], 'key') }
    }
  }
  // The rules' schemas have checked each value for its field.
  return { settings: settings as Level['settings'], vars }
}

const readVars = (yaml: StrictYaml, path: YamlPath, faults: InputFault[]): Level['vars'] => {
  if (yaml.at(path) === null) return {}
  const checked = yaml.check(varsSchema, path)
  faults.push(...checked.faults)
  const vars: Record<string, Located<VarValue>> = Object.create(null)
  for (const key of yaml.keys(path)) {
    vars[key] = { value: yaml.at([...path, key]) as VarValue, at: yaml.position([...path, key], 'key') }
  }
  return vars
}

const unknownKey = (yaml: StrictYaml, path: YamlPath, key: string, known: readonly string[]): InputFault => {
  const fault = yaml.unknownKey(path, key, known)
  const remedy = foreignKeyRemedy(path, key)
  return remedy === undefined ? fault : { ...fault, remedy }
}

/** The kind of what stands at a path; anything but the kinds allowed, or nothing, is a fault. */
const kindAt = (reading: Reading, path: YamlPath, allowed: readonly Kind[]): Kind => {
  const value = reading.yaml.at(path)
  if (value === null || value === undefined) return 'nothing'
  const kind = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'mapping' : undefined
  if (kind !== undefined && allowed.includes(kind)) return kind
  if (path.length === 0 || path.at(-1) === 'hosts' || path.at(-1) === 'groups') reading.incomplete = true
  const place = path.length === 0 ? 'The file' : JSON.stringify(path.at(-1))
  const wanted = allowed.join(' or a ')
  reading.faults.push(faultAt(reading.yaml.position(path), `${place} is not a ${wanted}.`, `Write a ${wanted} there.`))
  return 'nothing'
}
