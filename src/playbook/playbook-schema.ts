import { z } from 'zod'
import type { VarValue } from '../inventory/host.ts'
import { durationS } from './duration.ts'
import { whenSchema } from './when-schema.ts'

const given = (message: string) => ({
  error: (issue: { readonly input?: unknown }) => (issue.input === undefined ? message : undefined),
})

const vars = z.record(
  z.string(),
  z.custom<VarValue>(() => true),
)
const pattern = z.string().min(1, 'The pattern is empty.\nName hosts or groups, or leave the line out.')

// A run's directory is named after its playbook.
const playbookName = z
  .string(given('The playbook has no name.\nAdd a line such as name: remediate.'))
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'This cannot be the name of a playbook.\nUse up to 64 letters, digits and . _ -, beginning with a letter or a digit.',
  )

const stepName = z
  .string()
  .regex(
    /^[^\p{C}\u2028\u2029]{1,100}$/u,
    'This cannot be the name of a step.\nUse 1 to 100 printable characters on one line.',
  )

const noDuration = 'This is no length of time.\nWrite 90s, 10m or 1h30m, up to a day; a plain number is in seconds.'

const stepTimeout = z.union([z.string(), z.number()]).transform((given, context) => {
  const seconds = durationS(String(given))
  if (seconds !== null) return seconds
  context.addIssue(noDuration)
  return z.NEVER
})

const stepSchema = z.strictObject({
  task: z.string(given('The step has no task.\nAdd a line such as task: worker-running.')),
  name: stepName.exactOptional(),
  with: vars.default({}),
  hosts: pattern.nullable().default(null),
  when: whenSchema.nullable().default(null),
  timeout: stepTimeout.exactOptional(),
})

const noSays = 'Nothing says what cannot be undone.\nAdd a line such as says: Everything under /srv/data is removed.'

const confirmSchema = z.strictObject({
  says: z
    .string(given(noSays))
    .regex(
      /^[^\p{C}\u2028\u2029]{1,300}$/u,
      'This cannot be shown as a question.\nWrite one sentence of up to 300 printable characters on one line.',
    ),
  also: z
    .literal('yes-remove-everything', 'There is no such flag.\nWrite yes-remove-everything, or leave the line out.')
    .exactOptional(),
})

const noSteps = 'The playbook has no steps.\nAdd at least one under steps:.'

export const playbookSchema = z.strictObject({
  name: playbookName,
  description: z.string().default(''),
  hosts: pattern.default('all'),
  defaults: vars.default({}),
  vars: vars.default({}),
  confirm: confirmSchema.nullable().default(null),
  steps: z.array(stepSchema, given(noSteps)).min(1, noSteps),
})

export type PlaybookFile = z.output<typeof playbookSchema>
