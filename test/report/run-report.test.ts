import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createConsole } from '../../src/report/console.ts'
import { exitCode } from '../../src/report/exit-code.ts'
import { createJsonOutput } from '../../src/report/json-output.ts'
import { reportJsonSchema, runReportSchema } from '../../src/report/run-report.ts'
import { anyStream, reportOf, runStarted, stamped } from './streams.ts'

const published = JSON.parse(readFileSync(new URL('../../docs/report.schema.json', import.meta.url), 'utf8'))
// Formats are zod's to check; ajv would want another package for them.
const validate = new Ajv2020({ validateFormats: false, allErrors: true }).compile(published)
const isGood = (outcome: string | null): boolean =>
  ['unchanged', 'changed', 'would-change', 'skipped'].includes(outcome ?? '')

describe('run report', () => {
  test('docs/report.schema.json is what the code says (node src/report/write-report-schema.ts)', () => {
    expect(published).toEqual(reportJsonSchema())
    expect(published.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
  })

  test('every stream folds to a report that the published schema and the strict one accept', () => {
    fc.assert(
      fc.property(anyStream, fc.nat(), ({ events }, cut) => {
        for (const taken of [events, events.slice(0, 1 + (cut % events.length))]) {
          const report = reportOf(taken)
          expect(validate(JSON.parse(JSON.stringify(report))), JSON.stringify(validate.errors)).toBe(true)
          expect(runReportSchema.safeParse(report).error).toBeUndefined()
        }
      }),
    )
  })

  test('recap, totals, report, --output json and exit code agree', () => {
    fc.assert(
      fc.property(anyStream, ({ events, results, exitCode: code }) => {
        let screen = ''
        let json = ''
        const shown = createConsole({
          write: (text) => (screen += text),
          colour: false,
          verbose: 0,
          diff: false,
          reports: null,
        })
        const printed = createJsonOutput((text) => (json += text))
        for (const event of events) {
          shown(event)
          printed(event)
        }
        const report = reportOf(events)

        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(report)))
        expect(report.hosts.map(({ outcome, error }) => ({ outcome, code: error?.code ?? null }))).toEqual(results)
        expect(Object.values(report.totals).reduce((sum, count) => sum + count)).toBe(report.hosts.length)
        expect(report.exitCode).toBe(code)
        expect(report.exitReasons[0] ?? 0).toBe(code)

        const lines = screen.split('\n')
        const from = lines.findLastIndex((line) => /^PLAY RECAP \*{68}$/.test(line)) + 1
        const recap = lines.slice(from, from + report.hosts.length)
        const counters = recap.map((line) =>
          Object.fromEntries(
            [...line.matchAll(/(\w+)=(\d+)(?= |$)/g)].slice(-7).map(([, name, count]) => [name, Number(count)]),
          ),
        )
        report.hosts.forEach((host, index) => {
          const { failed, unreachable, changed } = counters[index] ?? {}
          expect(failed === 0 && unreachable === 0).toBe(isGood(host.outcome))
          expect(unreachable).toBe(host.outcome === 'unreachable' ? 1 : 0)
          if (isGood(host.outcome)) expect(Number(changed) > 0).toBe(host.changes > 0)
        })
        if (code === 0)
          expect(counters.every(({ failed, unreachable }) => failed === 0 && unreachable === 0)).toBe(true)
        expect(lines.some((line) => line.startsWith(`exit code ${code}:`))).toBe(code !== 0)
      }),
    )
  })

  test('a plan with changes is among the reasons of a run that ends with another code, where that was asked for', () => {
    const of = (detailedExitCode: boolean) =>
      reportOf(
        [
          { ...runStarted, mode: 'check' as const, detailedExitCode },
          { type: 'host-ended', host: 'web1', outcome: 'would-change', changes: 1, ms: 1 } as const,
          { type: 'host-ended', host: 'web2', outcome: 'unreachable', changes: 0, ms: 1 } as const,
          { type: 'run-ended', exitCode: 4, ms: 1, interrupted: false } as const,
        ].map(stamped),
      ).exitReasons
    expect(of(true)).toEqual([4, 6])
    expect(of(false)).toEqual([4])
  })

  test('a journal that was cut tells of hosts without an end and of no exit code', () => {
    const report = reportOf([stamped(runStarted), stamped({ type: 'host-started', host: 'web1' }, 1)])
    expect(report).toMatchObject({ ended: null, exitCode: null, interrupted: true, exitReasons: [130] })
    expect(report.totals).toMatchObject({ unfinished: 2, unchanged: 0 })
    expect(report.hosts.map((host) => host.outcome)).toEqual([null, null])
  })

  test('a host missing from a run that ended by itself is a fault, whatever the others did', () => {
    expect(
      exitCode({
        hosts: [{ outcome: null, code: null }],
        interrupted: false,
        halted: false,
        internal: false,
        detailedExitCode: false,
      }),
    ).toBe(1)
  })

  test('a step that ends twice counts once, as it ended last', () => {
    const step = { type: 'step-ended', host: 'web1', step: 'unit', task: 'unit', changes: [] } as const
    const report = reportOf([
      stamped(runStarted),
      stamped({ ...step, result: 'changed' }),
      stamped({ ...step, result: 'failed' }),
    ])
    expect(report.hosts[0]?.steps.map(({ result }) => result)).toEqual(['failed'])
  })
})
