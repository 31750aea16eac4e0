import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { Secret } from '../../secret.ts'
import { configFile } from '../agent/paths.ts'
import { isMapping, isSameConfig, merged, revealed, serialised } from '../config/render.ts'
import { configProblems } from '../config/schema.ts'

const backup = `${configFile}.drover-backup`
const sizeLimit = 1_048_576

export const configFileFacts = (): Fact[] => [
  { kind: 'path', path: configFile, content: sizeLimit, sha256: true, secret: true },
  { kind: 'path', path: backup, sha256: true, secret: true },
]

/** Either of the two, or none of them: then the file stays. */
export interface WantedConfig {
  readonly config: Readonly<Record<string, unknown>> | null
  readonly content: string | Secret | null
}

export interface ConfigChanges {
  /** The old file kept aside. */
  readonly staging: readonly Change[]
  readonly writes: readonly Change[]
}

/** The text never leaves this function but as a Secret: the file is full of them (domain.md 9.6). */
export const configChanges = (view: HostView, wanted: WantedConfig): ConfigChanges | ErrorDetails => {
  const node = view.node(configFile)
  if (node.type !== 'file') return noConfig(node.type)
  const before = view.text(configFile) ?? ''
  const after = node.size > sizeLimit ? unusable('is larger than a megabyte') : wantedText(before, wanted)
  if ('code' in after) return after
  const closed = { path: configFile, mode: 0o600, owner: 'root:root' } as const
  if (isSameConfig(before, after.reveal())) {
    const isClosed = node.mode === closed.mode && node.uid === 0 && node.gid === 0
    return { staging: isClosed ? [] : [{ kind: 'attributes', ...closed }], writes: [] }
  }
  const problems = problemsOf(after.reveal())
  if (problems.length > 0) return invalid(problems)
  const digest = view.sha256(configFile) ?? ''
  const kept = view.node(backup)
  if (kept.type !== 'absent' && kept.type !== 'file') return inTheWay(kept.type)
  return {
    staging:
      view.sha256(backup) === digest
        ? []
        : [
            {
              kind: 'copy',
              from: configFile,
              sha256: digest,
              size: node.size,
              path: backup,
              mode: 0o600,
              owner: 'root:root',
            },
          ],
    writes: [{ kind: 'write', ...closed, content: after }],
  }
}

const wantedText = (before: string, { config, content }: WantedConfig): Secret | ErrorDetails => {
  if (content !== null) return content instanceof Secret ? content : new Secret(content)
  if (config === null) return new Secret(before)
  const present = parsed(before)
  if (!isMapping(present)) return unusable('is no JSON object, so nothing can be laid over it')
  return serialised(merged(present, revealed(config)))
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const problemsOf = (text: string): readonly { readonly path: string; readonly message: string }[] => {
  const value = parsed(text)
  return value === undefined ? [{ path: '', message: 'is not valid JSON' }] : configProblems(value)
}

const invalid = (problems: readonly { readonly path: string; readonly message: string }[]): ErrorDetails => ({
  code: 'config-invalid',
  message: `The config.json that is wanted would not be valid: ${problems.map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`).join('; ')}.`,
  remedy: 'Correct config or content. Where the fault is in what the host has already, correct it along with the rest.',
})

const unusable = (why: string): ErrorDetails => ({
  code: 'config-invalid',
  message: `${configFile} ${why}.`,
  remedy: 'Give the whole of it as content, or mend it by hand on the host.',
})

const noConfig = (type: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${configFile} is ${type === 'absent' ? 'not there' : `a ${type}`}, where an installed agent has its configuration as a regular file.`,
  remedy: 'Look at how this host was installed: drover changes the configuration of an agent that has one.',
})

const inTheWay = (type: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${backup}, where the old configuration is to be kept, is a ${type}.`,
  remedy: 'Move it away: nothing is ever written through a link.',
})
