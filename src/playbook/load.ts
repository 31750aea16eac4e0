import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { InputFault } from '../errors.ts'
import { DroverError, InputError } from '../errors.ts'
import type { ReadFile } from '../inventory/read-text.ts'
import { readText } from '../inventory/read-text.ts'
import type { StrictYaml } from '../inventory/strict-yaml.ts'
import { parseStrictYaml } from '../inventory/strict-yaml.ts'
import { checkPlaybook } from './check-playbook.ts'
import type { PlaybookPlaces } from './find.ts'
import { findPlaybook } from './find.ts'
import type { Tasks } from './params.ts'
import type { Playbook } from './playbook.ts'
import type { PlaybookFile } from './playbook-schema.ts'
import { playbookSchema } from './playbook-schema.ts'
import { positionsBelow } from './positions.ts'
import { stepNames } from './step-names.ts'

export interface LoadOptions extends PlaybookPlaces {
  readonly tasks: Tasks
  readonly readFile?: ReadFile
}

/** A playbook by name or path, checked as far as it can be without an inventory. Throws all faults of the file at once. */
export const loadPlaybook = (nameOrPath: string, options: LoadOptions): Playbook => {
  const { path, file } = findPlaybook(nameOrPath, options)
  const { text, sha256 } = readPlaybook(path, file, options.readFile ?? readFileSync)
  const yaml = parseStrictYaml(file, text)
  if (yaml.value === undefined) throw new InputError('playbook-invalid', yaml.faults)
  if (yaml.value === null && yaml.faults.length === 0) throw emptyFile(file)
  const checked = yaml.check(playbookSchema)
  const faults = inOrder(yaml.faults, [...checked.faults, ...checkPlaybook(yaml, options.tasks)])
  if (faults.length > 0 || !('value' in checked)) throw new InputError('playbook-invalid', faults)
  return toPlaybook(yaml, checked.value, { file, sha256 })
}

const readPlaybook = (path: string, file: string, readFile: ReadFile): { text: string; sha256: string } => {
  let bytes = new Uint8Array()
  const read = readText(path, file, (name) => {
    bytes = new Uint8Array(readFile(name))
    return bytes
  })
  if ('text' in read) return { text: read.text, sha256: createHash('sha256').update(bytes).digest('hex') }
  if (!read.missing) throw new InputError('playbook-invalid', [read.fault])
  throw new DroverError({
    code: 'playbook-not-found',
    message: `${file}: ${read.fault.message}`,
    remedy: 'Correct the path; the name of a playbook of drover has no slash and no .yaml.',
  })
}

const emptyFile = (file: string): InputError => {
  const remedy = 'Write name: and steps: into it; docs/playbooks.md has an example.'
  return new InputError('playbook-invalid', [{ file, line: 1, column: 1, message: 'The file holds nothing.', remedy }])
}

/** By place. What the reader found at a place is the cause of what a schema finds there. */
const inOrder = (causes: readonly InputFault[], others: readonly InputFault[]): InputFault[] => {
  const place = ({ line, column }: InputFault): string => `${line}:${column}`
  const taken = new Set(causes.map(place))
  return [...causes, ...others.filter((fault) => !taken.has(place(fault)))].sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
}

const toPlaybook = (yaml: StrictYaml, data: PlaybookFile, source: { file: string; sha256: string }): Playbook => {
  const names = stepNames(data.steps)
  return {
    ...data,
    ...source,
    steps: data.steps.map((step, index) => {
      const { line, column } = yaml.position(['steps', index])
      return { ...step, name: names[index] ?? step.task, position: { line, column } }
    }),
    positions: { ...positionsBelow(yaml, ['hosts']), ...positionsBelow(yaml, ['steps']) },
  }
}
