import { parseDocument } from 'yaml'
import type { output, ZodType } from 'zod'
import type { InputFault } from '../errors.ts'
import { checkShape } from './check-shape.ts'
import { quoted } from './names.ts'
import { didYouMean, nearName } from './near.ts'
import type { Position } from './positions.ts'
import { faultAt, positionFinder } from './positions.ts'
import { toData } from './yaml-data.ts'
import { mappingKeys, nearestNode } from './yaml-lookup.ts'
import { syntaxFaults } from './yaml-syntax.ts'
import { tags } from './yaml-tags.ts'

export type YamlPath = readonly (string | number)[]

type Checked<T> = { readonly value: T; readonly faults: readonly [] } | { readonly faults: readonly InputFault[] }

/** One YAML 1.2 file, read strictly: every fault has a position, and so has every value. */
export interface StrictYaml {
  /** Plain data whose mappings have no prototype; undefined where the text is not YAML. */
  readonly value: unknown
  /** Syntax errors, keys given twice, merge keys, tags and what else no file may hold. */
  readonly faults: readonly InputFault[]
  /** The value at a path, undefined where there is none. */
  at(path: YamlPath): unknown
  /** Where a key or a value stands; of what is not there, where its nearest parent stands. */
  position(path: YamlPath, part?: 'key' | 'value'): Position
  /** The value at a path against a schema. A message of the schema may be `what is wrong\nwhat to do`. */
  check<T>(schema: ZodType<T>, path?: YamlPath): Checked<T>
  /** The fault for a key of the mapping at `path` that is not one of `known`. */
  unknownKey(path: YamlPath, key: string, known: readonly string[]): InputFault
  /** The keys of a mapping in the order of the file, also where they look like numbers. */
  keys(path: YamlPath): string[]
}

export const parseStrictYaml = (file: string, text: string): StrictYaml => {
  const document = parseDocument(text, {
    schema: 'core',
    stringKeys: true,
    // The library compares each key with each other one; toData does it in one pass.
    uniqueKeys: false,
    merge: false,
    resolveKnownTags: false,
    customTags: tags,
    prettyErrors: false,
    logLevel: 'error',
  })
  const positionAt = positionFinder(file, text)
  const broken = syntaxFaults(document, text)
  const data = toData(document)
  const complaints = broken.length > 0 ? broken : data.complaints

  const yaml: StrictYaml = {
    value: broken.length > 0 ? undefined : data.value,
    faults: complaints.map(({ offset, message, remedy }) => faultAt(positionAt(offset), message, remedy)),
    at: (path) => valueAt(broken.length > 0 ? undefined : data.value, path),
    position: (path, part = 'value') => {
      const { key, value } = nearestNode(data, document.contents, path)
      const node = part === 'key' ? (key ?? value) : (value ?? key)
      return positionAt(node?.range?.[0] ?? 0)
    },
    check: (schema, path = []) => {
      const { value, faults } = checkShape(schema, yaml.at(path))
      if (faults.length === 0) return { value: value as output<typeof schema>, faults: [] }
      return {
        faults: faults.map((fault) =>
          'key' in fault
            ? yaml.unknownKey([...path, ...fault.path], fault.key, fault.known)
            : faultAt(yaml.position([...path, ...fault.path]), fault.message, fault.remedy),
        ),
      }
    },
    unknownKey: (path, key, known) =>
      faultAt(
        yaml.position([...path, key], 'key'),
        `${quoted(key)} is not a key that is known here.`,
        didYouMean(nearName(key, known), `The keys here are: ${known.join(', ')}.`),
      ),
    keys: (path) => {
      const mapping = yaml.at(path)
      if (!isObject(mapping) || Array.isArray(mapping)) return []
      return mappingKeys(data, nearestNode(data, document.contents, path).value).filter((key) => key in mapping)
    },
  }
  return yaml
}

const valueAt = (value: unknown, path: YamlPath): unknown =>
  path.reduce<unknown>((inner, step) => (isObject(inner) ? inner[step] : undefined), value)

const isObject = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null
