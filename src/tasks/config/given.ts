import { z } from 'zod'
import { Secret } from '../../secret.ts'
import { isMapping, merged, revealed } from './render.ts'
import { configProblems } from './schema.ts'

/** Parameters that together make a config.json; `config` says over what it is laid. */
export const configShape = (config: string) =>
  ({
    config: z
      .record(z.string(), z.unknown(), {
        error: () => 'A mapping belongs here.\nWrite the sections of config.json: azure, node, and so on.',
      })
      .nullable()
      .default(null)
      .describe(config),
    content: z
      .union([
        z.string(),
        z.custom<Secret>((value) => value instanceof Secret, {
          error: () => 'A text belongs here.\nWrite a text, or the variable of a secret as the whole value.',
        }),
      ])
      .nullable()
      .default(null)
      .describe('All of config.json, as a text or, better, a secret; config is laid over it'),
  }) as const

export interface GivenConfig {
  readonly config: Readonly<Record<string, unknown>> | null
  readonly content: string | Secret | null
}

/** Null: none is given, and a blank one is none. */
const contentText = ({ content }: GivenConfig): string | null => {
  const text = content instanceof Secret ? content.reveal() : (content ?? '')
  return text.trim() === '' ? null : text
}

export const hasContent = (given: GivenConfig): boolean => contentText(given) !== null

/** What is given as a whole configuration, secrets revealed: never to be shown. Null: none is given. */
export const givenConfig = (given: GivenConfig): unknown => {
  const text = contentText(given)
  const config = given.config ?? {}
  if (text === null) return Object.keys(config).length === 0 ? null : revealed(config)
  return merged(parsed(text), revealed(config))
}

/** Undefined: no JSON. What a parser says of it quotes it. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** For `superRefine`: everything that is wrong with what is given as a whole, before any host is touched. */
export const validConfig = (given: GivenConfig, context: z.RefinementCtx): void => {
  const text = contentText(given)
  if (text !== null && !isMapping(parsed(text))) {
    context.addIssue({
      code: 'custom',
      path: ['content'],
      message: 'The content is no JSON object.\nGive the text of a config.json.',
    })
    return
  }
  const whole = givenConfig(given)
  if (whole === null) return
  for (const { path, message } of configProblems(whole)) {
    context.addIssue({
      code: 'custom',
      path: [text === null ? 'config' : 'content'],
      message: `The configuration is not valid: ${path === '' ? 'it' : path} ${message}.\nCorrect it; docs/install.md has the rules.`,
    })
  }
}
