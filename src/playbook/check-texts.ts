import type { InputFault } from '../errors.ts'
import { faultAt } from '../inventory/positions.ts'
import { isSecretReference, parseSecretReference } from '../inventory/secret-reference.ts'
import type { StrictYaml, YamlPath } from '../inventory/strict-yaml.ts'
import { mayRefer, parseText } from './reference.ts'
import type { Value } from './value.ts'
import { isList, isMap } from './value.ts'
import { variableNameFault } from './variable-name.ts'

/** Texts that are taken as they stand. */
export const checkPlain = (yaml: StrictYaml, at: YamlPath): InputFault[] =>
  textsIn(yaml, at)
    .filter(({ text }) => mayRefer(text))
    .map(({ path }) => faultAt(yaml.position(path), 'A variable cannot stand here.', 'Variables are for with: alone.'))

/** Texts that variables are put into. */
export const checkTexts = (yaml: StrictYaml, at: YamlPath): InputFault[] =>
  textsIn(yaml, at).flatMap(({ text, path }) => {
    const read = parseText(text)
    return 'problem' in read ? [faultAt(yaml.position(path), read.problem.message, read.problem.remedy)] : []
  })

export const checkVars = (yaml: StrictYaml, at: YamlPath): InputFault[] => [
  ...yaml.keys(at).flatMap((name) => {
    const [message, remedy = ''] = variableNameFault(name) ?? []
    return message === undefined ? [] : [faultAt(yaml.position([...at, name], 'key'), message, remedy)]
  }),
  ...checkTexts(yaml, at),
  ...placesIn(yaml, at).flatMap(({ value, path }) => {
    if (path.length === at.length || !isSecretReference(value)) return []
    const parsed = parseSecretReference(value)
    return 'problem' in parsed ? [faultAt(yaml.position(path), parsed.problem.message, parsed.problem.remedy)] : []
  }),
]

interface Place {
  readonly value: Value | undefined
  readonly path: YamlPath
}

const textsIn = (yaml: StrictYaml, at: YamlPath): { text: string; path: YamlPath }[] =>
  placesIn(yaml, at).flatMap(({ value, path }) => (typeof value === 'string' ? [{ text: value, path }] : []))

/** A value and all that is in it. */
const placesIn = (yaml: StrictYaml, at: YamlPath): Place[] => {
  const visit = (value: Value | undefined, path: YamlPath): Place[] => {
    const inner: [string | number, Value][] = isList(value)
      ? [...value.entries()]
      : isMap(value)
        ? Object.entries(value)
        : []
    return [{ value, path }, ...inner.flatMap(([step, item]) => visit(item, [...path, step]))]
  }
  return visit(yaml.at(at) as Value | undefined, at)
}
