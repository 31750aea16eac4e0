import { describe, expect, test } from 'vitest'
import type { RunEvent, StepResult } from '../../src/runner/events.ts'
import type { Finding } from '../../src/tasks/task.ts'
import { reportOf, runStarted, stamped } from './streams.ts'

const finding = (check: string, severity: Finding['severity']): Finding => ({
  check,
  target: check,
  severity,
  message: `${check} is ${severity}`,
  ignored: false,
  ...(severity !== 'ok' && { remedy: `Put ${check} right.` }),
})

const preflightOn = (host: string, result: StepResult, findings: readonly Finding[]): readonly RunEvent[] => [
  ...findings.map((each) => stamped({ type: 'finding', host, step: 'look', finding: each })),
  stamped({ type: 'step-ended', host, step: 'look', task: 'preflight', result, changes: [] }),
]

const only = (result: StepResult, ...severities: Finding['severity'][]) =>
  reportOf([
    stamped(runStarted),
    ...preflightOn(
      'web1',
      result,
      severities.map((each) => finding('a', each)),
    ),
  ]).hosts[0]?.preflight

describe('preflight', () => {
  test("has the agent's fields and no others; remedies are in the findings", () => {
    const report = reportOf([
      stamped(runStarted),
      ...preflightOn('web1', 'failed', [finding('cgroups', 'ok'), finding('swap-active', 'error')]),
    ])
    expect(report.hosts[0]?.preflight).toEqual({
      status: 'failed',
      checks: [
        { name: 'cgroups', target: 'cgroups', severity: 'ok', message: 'cgroups is ok', ignored: false },
        {
          name: 'swap-active',
          target: 'swap-active',
          severity: 'error',
          message: 'swap-active is error',
          ignored: false,
        },
      ],
      summary: { ok: 1, warnings: 0, errors: 1 },
    })
    expect(report.hosts[0]?.findings.map(({ remedy }) => remedy)).toEqual([null, 'Put swap-active right.'])
  })

  test.each<[string, StepResult, Finding['severity'][], string | undefined]>([
    ['all good', 'ok', ['ok', 'ok'], 'ok'],
    ['warnings', 'ok', ['ok', 'warning'], 'ok'],
    ['warnings that were asked to fail', 'failed', ['ok', 'warning'], 'failed'],
    ['an error', 'failed', ['error'], 'failed'],
    ['no check at all', 'ok', [], 'ok'],
    ['a step that failed before its checks', 'failed', [], undefined],
    ['a step that was blocked after some good checks', 'blocked', ['ok'], undefined],
    ['a step that was left out', 'skipped', [], undefined],
  ])('of %s', (_what, result, severities, status) => {
    expect(only(result, ...severities)?.status).toBe(status)
  })

  test('of a fleet counts entries by check and names the first hosts with errors', () => {
    const hosts = Array.from({ length: 30 }, (_, index) => `web${index}`)
    const report = reportOf([
      stamped({ ...runStarted, hosts: [...hosts, 'gone'] }),
      ...hosts.flatMap((host) =>
        preflightOn(host, 'failed', [finding('disk', 'error'), finding('disk', 'error'), finding('os', 'ok')]),
      ),
    ])
    expect(report.preflight).toEqual({
      hosts: { ok: 0, failed: 30, notRun: 1 },
      checks: [
        { name: 'disk', ok: 0, warnings: 0, errors: 60, hostsWithErrors: 30, hosts: hosts.slice(0, 20) },
        { name: 'os', ok: 30, warnings: 0, errors: 0, hostsWithErrors: 0, hosts: [] },
      ],
    })
  })

  test('is absent from a run that is none', () => {
    expect(reportOf([stamped(runStarted)])).not.toHaveProperty('preflight')
  })
})
