import { z } from 'zod'
import type { ErrorDetails } from '../../errors.ts'
import { commandKey, type Fact } from '../../facts/fact.ts'
import { ancestry, isCleanPath } from '../../facts/tree.ts'
import { isUnitName } from '../../facts/unit.ts'
import type { HostView } from '../../facts/view.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'
import { pathParam } from './path-param.ts'

const argvParam = z
  .array(
    z
      .string()
      .refine((word) => !word.includes('\0'), 'An argument holds a NUL.\nLeave it out: no program can be given one.'),
  )
  .min(1, 'The command is empty.\nWrite a list: the program, then its arguments.')
  .refine(
    (argv) => argv[0] !== '',
    'The command has no program.\nLet the list begin with one, by name or absolute path.',
  )

const touched = z
  .string()
  .refine(
    (name) => isUnitName(name) || isCleanPath(name),
    'This is neither a path nor a unit.\nWrite an absolute path, or the full name of a unit.',
  )

const params = z
  .strictObject({
    argv: argvParam.describe(
      'The program and its arguments. No shell reads them: no pipes, no variables, no wildcards',
    ),
    unless: argvParam
      .exactOptional()
      .describe(
        'A command that only reads, and ends with 0 where there is nothing to do. It runs in a dry run too, and must end with 0 after argv',
      ),
    creates: pathParam
      .exactOptional()
      .describe('Instead of unless: a path that argv makes. Where something is there, there is nothing to do'),
    timeout_s: z
      .number()
      .int()
      .min(1)
      .max(3600)
      .default(60)
      .describe('Seconds after which argv is stopped and has failed'),
    touches: z
      .array(touched)
      .default([])
      .describe(
        'Paths and units that argv changes besides. Later steps look at them again after it, instead of trusting what was there before',
      ),
  })
  .superRefine(({ unless, creates }, context) => {
    if ((unless === undefined) !== (creates === undefined)) return
    const fault =
      unless === undefined
        ? 'The step does not say when there is nothing to do.'
        : 'The step has both unless and creates.'
    context.addIssue({
      code: 'custom',
      message: `${fault}\nGive unless or creates, so that a second run does nothing and drover can verify the first.`,
    })
  })

type Params = z.infer<typeof params>

export const command: Task<Params> = {
  name: 'command',
  summary: 'What a command brings about is there, as another command or a path proves. For what no other task can do.',
  params,
  example: `name: trust
description: Hosts trust the certificates that were put among their anchors
steps:
  - task: command
    with:
      argv: [update-ca-trust, extract]
      unless: [test, /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem, -nt, /etc/pki/ca-trust/source/anchors]
      timeout_s: 120
`,
  facts: ({ unless, creates }): Fact[] => [
    ...(unless === undefined ? [] : [{ kind: 'command', argv: unless } as const]),
    ...(creates === undefined ? [] : [{ kind: 'path', path: creates } as const]),
  ],
  plan: (view, { argv, unless, creates, timeout_s, touches }): Planned => {
    const verdict =
      unless === undefined ? creates !== undefined && view.node(creates).type !== 'absent' : answerOf(view, unless)
    if (typeof verdict === 'object') return blocked(verdict)
    if (verdict) return satisfied()
    const spoils = [
      ...(unless === undefined ? [] : [commandKey(unless)]),
      ...(creates === undefined ? [] : [`path:${highestMissing(view, creates)}`]),
      ...touches.map((name) => `${name.startsWith('/') ? 'path' : 'unit'}:${name}`),
    ]
    return planned([{ kind: 'run', argv, timeoutMs: timeout_s * 1000, spoils }])
  },
}

/** Exit codes of the `timeout` that inspect runs the command under: its deadline passed, politely or not. */
const overdue = [124, 137]

const answerOf = (view: HostView, unless: readonly string[]): boolean | ErrorDetails => {
  const { code } = view.command(unless)
  if (!overdue.includes(code)) return code === 0
  return {
    code: 'command-timeout',
    message: `Whether there is anything to do cannot be said: ${unless.join(' ')} did not end in time.`,
    remedy: 'Run it by hand on the host to see why; give unless a command that answers at once.',
  }
}

/** A command that makes a path makes the directories above it that are missing, too. */
const highestMissing = (view: HostView, path: string): string =>
  ancestry(path).find((above) => view.node(above).type === 'absent') ?? path
