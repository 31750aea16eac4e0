import { z } from 'zod'
import { Secret } from '../../secret.ts'
import { isMapping, merged, revealed } from './render.ts'
import { configProblems } from './schema.ts'

const secretText = (words: string) =>
  z.union([z.string(), z.custom<Secret>((value) => value instanceof Secret, { error: () => words })])

export const maySecret = secretText(
  'A text belongs here.\nWrite a text, or the variable of a secret as the whole value.',
)

/** Parameters that together make a config.json. */
export const configShape = {
  config: z
    .record(z.string(), z.unknown(), {
      error: () => 'A mapping belongs here.\nWrite the sections of config.json: azure, node, and so on.',
    })
    .default({})
    .describe('Sections of config.json; values in it may be secrets. Empty, and base too: what the host has is kept'),
  base: maySecret
    .default('')
    .describe('A whole config.json as a text, or a secret with one, on top of which `config` is put'),
} as const

interface GivenConfig {
  readonly config: Readonly<Record<string, unknown>>
  readonly base: string | Secret
}

/** The configuration that is given, secrets revealed: never to be shown. Null: none is given, and the host's is kept. */
export const givenConfig = ({ config, base }: GivenConfig): unknown => {
  const text = base instanceof Secret ? base.reveal() : base
  if (text.trim() === '') return Object.keys(config).length === 0 ? null : revealed(config)
  return merged(parsed(text), revealed(config))
}

/** Undefined: no JSON. What a parser says of it quotes it. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** For `superRefine`: everything that is wrong with it, before any host is touched. */
export const validConfig = (given: GivenConfig, context: z.RefinementCtx): void => {
  const { base } = given
  const text = base instanceof Secret ? base.reveal() : base
  if (text.trim() !== '' && !isMapping(parsed(text))) {
    context.addIssue({
      code: 'custom',
      path: ['base'],
      message: 'The base is no JSON object.\nGive the text of a config.json.',
    })
    return
  }
  const whole = givenConfig(given)
  if (whole === null) return
  for (const { path, message } of configProblems(whole)) {
    context.addIssue({
      code: 'custom',
      path: ['config'],
      message: `The configuration is not valid: ${path === '' ? 'it' : path} ${message}.\nCorrect it; docs/install.md has the rules.`,
    })
  }
}
