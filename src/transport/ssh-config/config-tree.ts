import { globSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { ConfigLine } from './config-line.ts'
import { parseConfigLine } from './config-line.ts'
import type { ConfigFile } from './config-source.ts'
import type { Criterion } from './match-criteria.ts'
import { parseCriteria } from './match-criteria.ts'
import { expandEnvironment, expandHome } from './tokens.ts'

/** A line that sets something, and where it stands. */
export interface Directive extends ConfigLine {
  readonly file: string
  readonly line: number
  /** In the system's file or one that it includes. */
  readonly isSystems: boolean
}

/** One file, line by line: a Host or Match line holds until the next one. */
export type ConfigItem =
  | { readonly kind: 'set'; readonly directive: Directive }
  | { readonly kind: 'host'; readonly patterns: readonly string[] }
  | { readonly kind: 'match'; readonly criteria: readonly Criterion[] }
  | { readonly kind: 'include'; readonly files: readonly (readonly ConfigItem[])[] }

export interface TreeOptions {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const includeDepth = 16

/** The files with all that they include. Files that are missing are passed over, as ssh does. */
export const readConfigTree = (files: readonly ConfigFile[], options: TreeOptions): readonly ConfigItem[] =>
  // Each file begins with no Host line in force.
  files.map((file): ConfigItem => ({ kind: 'include', files: [readItems(file, options, 0)] }))

const readItems = (file: ConfigFile, options: TreeOptions, depth: number): readonly ConfigItem[] => {
  const text = readIfThere(file.path)
  return text.split('\n').flatMap((one, index): ConfigItem[] => {
    const line = parseConfigLine(one.replace(/\r$/, ''))
    if (line === null) return []
    if (line.keyword === 'host') return [{ kind: 'host', patterns: line.args }]
    if (line.keyword === 'match') return [{ kind: 'match', criteria: parseCriteria(line.args) }]
    if (line.keyword !== 'include')
      return [{ kind: 'set', directive: { ...line, file: file.path, line: index + 1, isSystems: !file.isUsers } }]
    if (depth >= includeDepth) return []
    const paths = line.args.flatMap((arg) => includedPaths(arg, file, options))
    return [{ kind: 'include', files: paths.map((path) => readItems({ ...file, path }, options, depth + 1)) }]
  })
}

const includedPaths = (arg: string, { isUsers }: ConfigFile, { home, env }: TreeOptions): readonly string[] => {
  const path = expandHome(expandEnvironment(arg, env), home)
  const whole = isAbsolute(path) ? path : join(isUsers ? `${home}/.ssh` : '/etc/ssh', path)
  return /[*?[]/.test(whole) ? globSync(whole).sort() : [whole]
}

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Every item of a tree, whether or not it is in force. */
export const allItems = (items: readonly ConfigItem[]): readonly ConfigItem[] =>
  items.flatMap((item) => (item.kind === 'include' ? item.files.flatMap(allItems) : [item]))
