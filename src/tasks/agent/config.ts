import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { configFile } from './paths.ts'

/**
 * All that drover keeps of config.json, which is full of secrets (domain.md 9.6). Errors carry no word of
 * the text: what a JSON parser says quotes it.
 */
export type AgentConfig =
  | { readonly is: 'absent' }
  | { readonly is: 'valid'; readonly offline: boolean; readonly localDns: 'on' | 'off' | 'unsaid' }
  | { readonly is: 'invalid'; readonly error: string }

const sizeLimit = 1_048_576

export const configFacts = (): Fact[] => [{ kind: 'path', path: configFile, content: sizeLimit, secret: true }]

/** Needs root: the file is 0600. */
export const readConfig = (view: HostView): AgentConfig => {
  const file = view.target(configFile)
  if (file.type === 'absent') return { is: 'absent' }
  const text = view.text(configFile)
  if (text === null || file.type !== 'file') return invalid(`${configFile} is not a regular file`)
  if (file.size > sizeLimit) return invalid(`${configFile} is larger than ${sizeLimit} bytes`)
  try {
    return kept(JSON.parse(text))
  } catch {
    return invalid(`${configFile} is not valid JSON`)
  }
}

const kept = (config: unknown): AgentConfig => {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    return invalid(`${configFile} is not a JSON object`)
  const source = at(config, 'bootstrap', 'offlineArtifacts', 'source')
  const mode = at(config, 'networking', 'localDNS', 'mode')
  return {
    is: 'valid',
    offline: typeof source === 'string' && source.trim() !== '',
    localDns: mode === 'Disabled' ? 'off' : mode === 'Required' || mode === 'Preferred' ? 'on' : 'unsaid',
  }
}

const at = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Object.getOwnPropertyDescriptor(inner, key)?.value : undefined,
    value,
  )

const invalid = (error: string): AgentConfig => ({ is: 'invalid', error })
