import { z } from 'zod'
import type { OsFamily } from '../facts/state.ts'
import { isCleanPath } from '../facts/tree.ts'
import { isUnitName, unitProperties } from '../facts/unit.ts'
import { quoted } from '../inventory/names.ts'
import { didYouMean, nearName } from '../inventory/near.ts'
import type { FactCondition, When } from './playbook.ts'

const families: Readonly<Record<OsFamily, true>> = { rhel: true, ubuntu: true, debian: true, acl: true, other: true }
const kinds: readonly string[] = ['absent', 'file', 'directory', 'symlink']

const wrongName = (text: string, known: readonly string[], what: string): string | undefined =>
  known.includes(text)
    ? undefined
    : `${quoted(text)} is no ${what}.\n${didYouMean(nearName(text, known), `Write one of: ${known.join(', ')}.`)}`

const oneOf = (known: readonly string[], what: string) =>
  z.string().check((ctx) => {
    const message = wrongName(ctx.value, known, what)
    if (message !== undefined) ctx.issues.push({ code: 'custom', input: ctx.value, message })
  })

const oneOrMany = (item: z.ZodType<string>) =>
  z.preprocess(
    (value) => (Array.isArray(value) ? value : [value]),
    z.array(item).min(1, 'The list is empty.\nName at least one.'),
  )

// One schema for both forms: a union would report the form that was not meant.
const factCondition = z
  .strictObject({
    unit: z
      .string()
      .refine(isUnitName, 'This is no unit name.\nWrite a whole one such as a.service; a template needs its instance.')
      .exactOptional(),
    property: oneOf(unitProperties, 'unit property that drover reads').exactOptional(),
    path: z
      .string()
      .refine(isCleanPath, 'This is no clean absolute path.\nBegin with / and leave out //, . and .. parts.')
      .exactOptional(),
    // systemd's answers are texts; NRestarts: 0 is a number to YAML alone.
    is: z.union([z.string(), z.int().transform(String)]),
  })
  .transform(({ unit, property, path, is }, ctx): FactCondition => {
    if (ctx.issues.length > 0) return z.NEVER
    if (unit !== undefined && property !== undefined && path === undefined) return { unit, property, is }
    if (path === undefined || unit !== undefined || property !== undefined) {
      const message =
        'This is neither a unit with its property nor a path.\nWrite unit, property and is, or path and is.'
      ctx.issues.push({ code: 'custom', input: is, message })
      return z.NEVER
    }
    const message = wrongName(is, kinds, 'kind of file')
    if (message !== undefined) ctx.issues.push({ code: 'custom', input: is, path: ['is'], message })
    return { path, is } as FactCondition
  })

export const whenSchema: z.ZodType<When> = z.strictObject({
  os: oneOrMany(oneOf(Object.keys(families), 'os family')).exactOptional(),
  variant: z.enum(['host', 'container']).exactOptional(),
  group: oneOrMany(z.string()).exactOptional(),
  facts: z.array(factCondition).min(1, 'The list is empty.\nName at least one fact.').exactOptional(),
})
