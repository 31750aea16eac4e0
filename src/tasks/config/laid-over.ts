import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { Secret } from '../../secret.ts'
import { configFile } from '../agent/paths.ts'
import { configSizeLimit } from './config-file.ts'
import { type GivenConfig, givenConfig, hasContent, parsed } from './given.ts'
import { isMapping, isSameConfig, merged, revealed, serialised } from './render.ts'
import { configProblems } from './schema.ts'

/** The configuration that an agent is to have: a whole one, or sections over what the host has, or what it has. */
export const laidOver = (view: HostView, given: GivenConfig): Secret | ErrorDetails => {
  const node = view.node(configFile)
  if (node.type !== 'file') return noConfig(node.type)
  if (node.size > configSizeLimit && !hasContent(given)) return unusable('is larger than a megabyte')
  const before = view.text(configFile) ?? ''
  const after = textOver(before, given)
  if ('code' in after || isSameConfig(before, after.reveal())) return after
  const problems = configProblems(parsed(after.reveal()))
  return problems.length === 0 ? after : invalid(problems)
}

const textOver = (before: string, given: GivenConfig): Secret | ErrorDetails => {
  if (hasContent(given)) return asGiven(given)
  if (given.config === null) return new Secret(before)
  const present = parsed(before)
  if (!isMapping(present)) return unusable('is no JSON object, so nothing can be laid over it')
  return serialised(merged(present, revealed(given.config)))
}

/** A text that nothing is laid over goes to the host as it is. */
const asGiven = (given: GivenConfig): Secret => {
  const { config, content } = given
  if (config !== null && Object.keys(config).length > 0) return serialised(givenConfig(given))
  return content instanceof Secret ? content : new Secret(content ?? '')
}

const invalid = (problems: readonly { readonly path: string; readonly message: string }[]): ErrorDetails => ({
  code: 'config-invalid',
  message: `The config.json that is wanted would not be valid: ${problems.map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`).join('; ')}.`,
  remedy: 'Correct config. Where the fault is in what the host has already, correct it along with the rest.',
})

const unusable = (why: string): ErrorDetails => ({
  code: 'config-invalid',
  message: `${configFile} ${why}.`,
  remedy: 'Put it right by hand on the host, or put the whole of it in its place with content.',
})

const noConfig = (type: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${configFile} is ${type === 'absent' ? 'not there' : `a ${type}`}, where an installed agent has its configuration as a regular file.`,
  remedy: 'Look at how this host was installed: drover changes the configuration of an agent that has one.',
})
