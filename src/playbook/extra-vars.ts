import { resolve } from 'node:path'
import type { InputFault } from '../errors.ts'
import { InputError } from '../errors.ts'
import type { Vars, VarValue } from '../inventory/host.ts'
import type { ReadFile } from '../inventory/read-text.ts'
import { readText } from '../inventory/read-text.ts'
import { parseStrictYaml } from '../inventory/strict-yaml.ts'
import { variableNameFault } from './variable-name.ts'

export interface ExtraVarsFiles {
  readonly cwd: string
  readonly readFile: ReadFile
}

/** The arguments of all `-e`: `name=value`, `{...}` or `@file`. Of two with one name the later one holds. */
export const parseExtraVars = (args: readonly string[], files: ExtraVarsFiles): Vars => {
  const faults: InputFault[] = []
  const vars = args.flatMap((arg) => {
    const parsed = parseArgument(arg, files)
    if ('faults' in parsed) faults.push(...parsed.faults)
    return 'vars' in parsed ? Object.entries(parsed.vars) : []
  })
  if (faults.length > 0) throw new InputError('usage', faults)
  return Object.fromEntries(vars)
}

type Parsed = { readonly vars: Vars } | { readonly faults: readonly InputFault[] }

const parseArgument = (arg: string, { cwd, readFile }: ExtraVarsFiles): Parsed => {
  if (arg.startsWith('@')) {
    const file = arg.slice(1)
    const read = readText(resolve(cwd, file), file, readFile)
    return 'text' in read
      ? parseMapping(file, read.text)
      : refuse(arg, read.fault.message, 'Correct the path or the file after @.')
  }
  if (arg.trimStart().startsWith('{')) return parseMapping(argumentName(arg), arg)
  const equals = arg.indexOf('=')
  if (equals === -1)
    return refuse(arg, 'There is no = in it.', 'Write -e name=value, -e \'{"name": "value"}\' or -e @FILE.')
  const name = arg.slice(0, equals)
  const wrong = variableNameFault(name)
  if (wrong !== undefined) return refuse(arg, ...wrong)
  const value = parseScalar(arg.slice(equals + 1))
  if (value === undefined) return refuse(arg, 'The quotes around the value do not match.', 'Write -e \'name="value"\'.')
  return { vars: { [name]: value } }
}

const parseMapping = (file: string, text: string): Parsed => {
  const yaml = parseStrictYaml(file, text)
  if (yaml.faults.length > 0) return { faults: yaml.faults }
  const { value } = yaml
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const remedy = 'Write a mapping of names to values.'
    return { faults: [{ ...yaml.position([]), message: 'This is not a mapping of variables.', remedy }] }
  }
  const faults = Object.keys(value).flatMap((name) => {
    const [message, remedy] = variableNameFault(name) ?? []
    return message === undefined || remedy === undefined ? [] : [{ ...yaml.position([name], 'key'), message, remedy }]
  })
  return faults.length > 0 ? { faults } : { vars: value as Vars }
}

/** What is no number, no boolean and no null exactly as it stands is text: 1.10 and 0644 keep their zeros. */
const parseScalar = (text: string): VarValue | undefined => {
  const isQuoted = /^["']/.test(text)
  if (!isQuoted && !/^(?:~|[\w.+-]+)$/.test(text)) return text
  const { value, faults } = parseStrictYaml('-e', text)
  if (isQuoted) return faults.length === 0 && typeof value === 'string' && /["']$/.test(text) ? value : undefined
  const isTyped = typeof value === 'number' || typeof value === 'boolean' || /^(?:~|null)$/i.test(text)
  return faults.length === 0 && isTyped ? (value as VarValue) : text
}

/** The name alone: what follows = may be nobody's business. */
const argumentName = (arg: string): string => {
  const name = arg.startsWith('@') ? arg : arg.trimStart().startsWith('{') ? '{…}' : (arg.split('=', 1)[0] ?? '')
  return `-e ${name.length > 60 ? `${name.slice(0, 60)}…` : name}`
}

const refuse = (arg: string, message: string, remedy: string): Parsed => ({
  faults: [{ file: argumentName(arg), message, remedy }],
})
