import { z } from 'zod'
import { hostReportSchema, outcomeSchema } from './host-report.ts'

const count = z.int().min(0)
const time = z.iso.datetime()

const fleetCheckSchema = z
  .strictObject({
    name: z.string(),
    ok: count,
    warnings: count,
    errors: count,
    hostsWithErrors: count,
    hosts: z.array(z.string()).meta({ description: 'The first of the hosts with errors.' }),
  })
  .meta({ id: 'FleetCheck' })

const fleetPreflightSchema = z
  .strictObject({
    hosts: z.strictObject({
      ok: count,
      failed: count,
      notRun: count.meta({ description: 'No verdict: unreachable, blocked before it, or skipped.' }),
    }),
    checks: z.array(fleetCheckSchema),
  })
  .meta({ id: 'FleetPreflight' })

/** The one definition of report.json: the type and the published JSON Schema both come from it. */
export const runReportSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    drover: z.string().meta({ description: 'Version of drover.' }),
    run: z.string(),
    playbook: z.string(),
    playbookSha256: z.string(),
    operator: z.string(),
    reason: z.string().nullable(),
    mode: z.enum(['apply', 'check']),
    forks: count,
    started: time,
    ended: time.nullable().meta({ description: 'Null: the journal ends before the run did.' }),
    ms: z.number().min(0).nullable(),
    interrupted: z.boolean(),
    exitCode: z
      .int()
      .nullable()
      .meta({ description: 'Of the process; docs/reports.md has the table. Null: it never got there.' }),
    exitReasons: z.array(z.int()).meta({ description: 'Every exit code that applies, the one used first.' }),
    totals: z
      .record(z.enum([...outcomeSchema.options, 'unfinished']), count)
      .meta({ description: 'Hosts by outcome; they add up to the number of hosts.' }),
    notices: z.array(z.strictObject({ at: time, host: z.string().nullable(), message: z.string() })),
    hosts: z.array(hostReportSchema),
    preflight: fleetPreflightSchema.optional(),
  })
  .meta({ title: 'drover run report' })

export type RunReport = z.infer<typeof runReportSchema>
export type FleetPreflight = z.infer<typeof fleetPreflightSchema>

/**
 * docs/report.schema.json. The schema in the code is strict, so that a stray field is a test failure; the published one
 * lets unknown fields pass, so that who validates today still can when a field is added within a schemaVersion.
 */
export const reportJsonSchema = (): Record<string, unknown> =>
  z.toJSONSchema(runReportSchema, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // Zod's pattern for a date is longer than everything around it and says no more than the format does.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    },
  })
