import { createHash } from 'node:crypto'
import { z } from 'zod'

const count = z.int().min(0)
const milliseconds = z.number().min(0)
const time = z.iso.datetime()

const errorSchema = z
  .strictObject({
    code: z.string().meta({ description: 'Stable; docs/errors.md explains each.' }),
    message: z.string(),
    remedy: z.string().meta({ description: 'What to do next.' }),
    step: z.string().nullable(),
    detail: z.string().nullable().meta({ description: "The host's own words." }),
  })
  .meta({ id: 'Error' })

const changeSchema = z.strictObject({ summary: z.string(), diff: z.string().nullable() }).meta({ id: 'Change' })

const stepSchema = z
  .strictObject({
    step: z.string(),
    task: z.string(),
    result: z.enum(['ok', 'changed', 'would-change', 'skipped', 'failed', 'blocked', 'unknown']),
    changes: z.array(changeSchema).meta({ description: 'Made, or in check mode wanted.' }),
    reason: z.string().nullable().meta({ description: 'Why it was skipped.' }),
    knownAfter: z
      .string()
      .nullable()
      .meta({ description: 'Why nothing can be said before an earlier step is applied.' }),
    error: errorSchema.nullable(),
  })
  .meta({ id: 'Step' })

const severity = z.enum(['ok', 'warning', 'error'])

const findingSchema = z
  .strictObject({
    step: z.string(),
    check: z.string(),
    target: z.string(),
    severity,
    message: z.string(),
    ignored: z.boolean().meta({ description: 'An error that an ignore list turned into a warning.' }),
    remedy: z.string().nullable(),
  })
  .meta({ id: 'Finding' })

/** Field for field what the agent's own `preflight --output json` prints, so that one parser reads both. */
const preflightSchema = z
  .strictObject({
    status: z.enum(['ok', 'failed']),
    checks: z.array(
      z.strictObject({ name: z.string(), target: z.string(), severity, message: z.string(), ignored: z.boolean() }),
    ),
    summary: z.strictObject({ ok: count, warnings: count, errors: count }),
  })
  .meta({ id: 'Preflight', description: "As the agent's own preflight prints it." })

export const outcomeSchema = z.enum([
  'unchanged',
  'changed',
  'would-change',
  'failed',
  'blocked',
  'unreachable',
  'rolled-back',
  'skipped',
  'cancelled',
])

export const hostReportSchema = z
  .strictObject({
    name: z.string(),
    outcome: outcomeSchema.nullable().meta({ description: 'Null: the run stopped before the host came to an end.' }),
    changes: count.meta({ description: 'Made, or in check mode wanted.' }),
    started: time.nullable(),
    ended: time.nullable(),
    ms: milliseconds.nullable(),
    connected: z
      .strictObject({
        ms: milliseconds,
        server: z.string(),
        retries: z.int().positive().optional().meta({ description: 'How often it was dropped or refused before.' }),
      })
      .nullable(),
    steps: z.array(stepSchema),
    findings: z.array(findingSchema),
    execs: z
      .array(
        z.strictObject({
          verb: z.enum(['inspect', 'upload', 'apply', 'verify', 'reboot', 'confirm', 'rollback']),
          ms: milliseconds,
          code: z.int(),
        }),
      )
      .meta({ description: 'Every command that was run on the host.' }),
    uploads: z
      .array(
        z.strictObject({
          path: z.string(),
          bytes: count.meta({ description: 'Of the file.' }),
          sent: count.meta({ description: 'On the wire, before encryption.' }),
          how: z.enum(['whole', 'resumed', 'delta']),
          ms: milliseconds,
        }),
      )
      .meta({ description: 'Files that were brought to the host.' }),
    armed: z.strictObject({ what: z.string(), firesAt: time }).nullable().meta({
      description: 'A rollback that this run armed and did not disarm, and when the host fires it by itself.',
    }),
    machine: z
      .strictObject({
        machineId: z.string(),
        bootId: z.string(),
        pid1Start: z
          .string()
          .meta({ description: "Clock ticks since the kernel's boot: tells a container's reboot, too." }),
      })
      .nullable()
      .meta({ description: 'Who the host says it is, as last seen. Null: it was not read, or has no machine-id.' }),
    stalled: z
      .strictObject({ where: z.string(), silentMs: milliseconds })
      .nullable()
      .meta({ description: 'The longest silence that was told of, and what the host was waited for with.' }),
    error: errorSchema.nullable(),
    preflight: preflightSchema.optional(),
  })
  .meta({ id: 'Host' })

export type HostReport = z.infer<typeof hostReportSchema>
export type StepReport = z.infer<typeof stepSchema>
export type PreflightReport = z.infer<typeof preflightSchema>

/** A file name per host. A name that had to be altered, or differs from another in case only, gets a digest. */
export const hostFileNames = (hosts: readonly string[]): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const host of [...new Set(hosts)].sort((a, b) => Number(!isSafe(a)) - Number(!isSafe(b)))) {
    let file = isSafe(host) ? host : withDigest(host, 8)
    for (let digits = 8; taken.has(file.toLowerCase()); digits += 8) file = withDigest(host, digits)
    taken.add(file.toLowerCase())
    names.set(host, `${file}.json`)
  }
  return names
}

const isSafe = (host: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(host)

const withDigest = (host: string, digits: number): string => {
  const readable = host
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[.-]+/, '')
    .slice(0, 100)
  return `${readable || 'host'}-${createHash('sha256').update(host).digest('hex').slice(0, digits)}`
}
