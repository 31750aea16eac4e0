import { z } from 'zod'
import type { Problem } from './names.ts'
import { nameProblem, userProblem } from './names.ts'
import { secretSchema } from './secret-schema.ts'
import type { Settings } from './source.ts'

export interface SettingRule {
  readonly field: keyof Settings
  readonly schema: z.ZodType
}

/** The keys of drover's YAML, the setting that each gives, and what it may hold. */
export const settingRules = (resolvePath: (text: string) => string): Readonly<Record<string, SettingRule>> => ({
  address: { field: 'address', schema: checked((text) => nameProblem('address', text)) },
  port: { field: 'port', schema: z.int().min(1).max(65_535) },
  user: { field: 'user', schema: checked(userProblem) },
  identity_file: { field: 'identityFiles', schema: oneOrMany(checked(pathProblem).transform(resolvePath)) },
  certificate_file: { field: 'certificateFiles', schema: oneOrMany(checked(pathProblem).transform(resolvePath)) },
  password: { field: 'password', schema: secretSchema(resolvePath) },
  transport: { field: 'transport', schema: z.enum(['auto', 'ssh2', 'openssh']) },
  become: { field: 'become', schema: z.boolean() },
  become_method: { field: 'becomeMethod', schema: z.enum(['sudo', 'doas']) },
  become_password: { field: 'becomePassword', schema: secretSchema(resolvePath) },
  jump: { field: 'jump', schema: oneOrMany(z.string()) },
  variant: { field: 'variant', schema: z.enum(['host', 'container']) },
  offline: { field: 'offline', schema: z.boolean() },
  known_hosts: { field: 'knownHostsFiles', schema: oneOrMany(checked(pathProblem).transform(resolvePath)) },
  host_key_alias: { field: 'hostKeyAlias', schema: checked((text) => nameProblem('address', text)) },
  host_key_policy: { field: 'hostKeyPolicy', schema: z.enum(['strict', 'accept-new', 'off']) },
})

export const varsSchema = z.record(z.string(), z.unknown())

const checked = (problemOf: (text: string) => Problem | undefined) =>
  z.string().superRefine((text, context) => {
    const problem = problemOf(text)
    if (problem !== undefined) context.addIssue(`${problem.message}\n${problem.remedy}`)
  })

/** A list, or its only item without the brackets. */
const oneOrMany = <T extends z.ZodType>(item: T) =>
  z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item))

const pathProblem = (text: string): Problem | undefined => {
  if (text !== '' && !/\p{Cc}/u.test(text) && !/^~[^/]/.test(text)) return undefined
  return {
    message: 'This cannot be a path.',
    remedy: 'Write a path that is absolute, begins with ~/, or is relative to this file.',
  }
}
