import fc from 'fast-check'
import type { ErrorCode } from '../../src/errors.ts'
import { exitCode, type HostResult } from '../../src/report/exit-code.ts'
import { createReportFold } from '../../src/report/report-fold.ts'
import type { RunReport } from '../../src/report/run-report.ts'
import type { ChangeReport, ErrorReport, Outcome, RunEvent, RunEventBody, StepResult } from '../../src/runner/events.ts'
import type { Finding } from '../../src/tasks/task.ts'

/** What hosts and users may supply: ordinary, empty, hostile. */
const hostile = ['\u001b[2Jok: [other]', 'a\nok: [other] forged', '\u202egnp.exe', '\u009b31m', 'web\r\n', '']
export const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom(...hostile))

const anyError = (...codes: readonly ErrorCode[]): fc.Arbitrary<ErrorReport> =>
  fc.record(
    { code: fc.constantFrom(...codes), message: anyText, remedy: anyText, step: anyText, detail: anyText },
    { requiredKeys: ['code', 'message', 'remedy'] },
  )

const anyChanges = fc.array(
  fc.record({ summary: anyText, diff: anyText }, { requiredKeys: ['summary'] }) as fc.Arbitrary<ChangeReport>,
  { minLength: 1, maxLength: 5 },
)

const anyFinding: fc.Arbitrary<Finding> = fc.record(
  {
    check: fc.constantFrom('host-packages', 'cgroups', 'swap-active'),
    target: anyText,
    severity: fc.constantFrom('ok', 'warning', 'error'),
    message: anyText,
    ignored: fc.boolean(),
    remedy: anyText,
  },
  { requiredKeys: ['check', 'target', 'severity', 'message', 'ignored'] },
)

interface HostStory {
  readonly outcome: Outcome | null
  readonly body: readonly RunEventBody[]
}

type Mode = 'apply' | 'check'

const stepNames = ['first', 'second', 'third \u001b[1m', 'fourth']

const anyStep = (host: string, step: string, mode: Mode): fc.Arbitrary<RunEventBody[]> =>
  fc
    .record({
      task: fc.constantFrom('preflight', 'agent-installed', 'preflight-passed'),
      result: fc.constantFrom<StepResult>('ok', mode === 'check' ? 'would-change' : 'changed', 'skipped', 'unknown'),
      changes: anyChanges,
      findings: fc.array(anyFinding, { maxLength: 3 }),
      knownAfter: anyText,
    })
    .map(({ task, result, changes, findings, knownAfter }): RunEventBody[] => {
      const hasChanges = result === 'changed' || result === 'would-change'
      const own = hasChanges ? changes : []
      return [
        {
          type: 'host-planned',
          host,
          segment: 0,
          steps: [{ step, task, changes: own, ...(result === 'unknown' && { knownAfter }) }],
        },
        ...(result === 'changed' ? own : []).flatMap(({ summary, diff }): RunEventBody[] => [
          { type: 'change-started', host, step, summary },
          { type: 'change-done', host, step, summary, ...(diff !== undefined && { diff }) },
        ]),
        ...findings.map((finding): RunEventBody => ({ type: 'finding', host, step, finding })),
        { type: 'step-ended', host, step, task, result, changes: own },
      ]
    })

const bad = ['failed', 'blocked', 'unreachable', 'rolled-back', 'cancelled'] as const

const anyHostStory = (host: string, mode: Mode, mayLackEnd: boolean): fc.Arbitrary<HostStory> =>
  fc
    .record({
      steps: fc
        .integer({ min: 0, max: stepNames.length })
        .chain((count) => fc.tuple(...stepNames.slice(0, count).map((step) => anyStep(host, step, mode)))),
      fate: fc.constantFrom('good', 'good', 'not begun', ...(mayLackEnd ? (['no end'] as const) : []), ...bad),
      error: anyError('locked', 'internal', 'change-failed', 'drifted', 'auth-failed', 'connection-lost'),
      tellsStep: fc.boolean(),
      ms: fc.nat(),
    })
    .map(({ steps, fate, error, tellsStep, ms }): HostStory => {
      const start: RunEventBody[] = [
        { type: 'host-started', host },
        { type: 'host-connected', host, ms, server: 'SSH-2.0-\u001b[31mx' },
        { type: 'exec', host, verb: 'inspect', ms, code: 0 },
      ]
      const done = steps.flat()
      const changes = done.flatMap((event) => (event.type === 'step-ended' ? event.changes : [])).length
      const end = (outcome: Outcome, withError?: ErrorReport): RunEventBody => ({
        type: 'host-ended',
        host,
        outcome,
        changes,
        ms,
        ...(withError !== undefined && { error: withError }),
      })
      if (fate === 'not begun')
        return { outcome: 'skipped', body: [{ type: 'host-ended', host, outcome: 'skipped', changes: 0, ms: 0 }] }
      if (fate === 'no end') return { outcome: null, body: [...start, ...done] }
      if (fate === 'good') {
        const outcome = changes === 0 ? 'unchanged' : mode === 'check' ? 'would-change' : 'changed'
        return { outcome, body: [...start, ...done, end(outcome)] }
      }
      const result = fate === 'blocked' ? 'blocked' : 'failed'
      const step: RunEventBody[] = [
        { type: 'change-failed', host, step: 'last', summary: 'x', error },
        { type: 'step-ended', host, step: 'last', task: 'preflight', result, changes: [], ...(tellsStep && { error }) },
      ]
      const isInStep = tellsStep && fate !== 'unreachable' && fate !== 'cancelled'
      return { outcome: fate, body: [...start, ...done, ...(isInStep ? step : []), end(fate, error)] }
    })

export interface Stream {
  readonly events: readonly RunEvent[]
  readonly results: readonly HostResult[]
  readonly exitCode: number
}

/** Streams as a runner may send them: lanes interleaved in any way, each in its own order. */
export const anyStream: fc.Arbitrary<Stream> = fc
  .record({
    hosts: fc.uniqueArray(fc.oneof(fc.domain(), anyText), { minLength: 1, maxLength: 5 }),
    mode: fc.constantFrom<Mode>('apply', 'check'),
    interrupted: fc.boolean(),
    halted: fc.boolean(),
    detailedExitCode: fc.boolean(),
  })
  .chain(({ hosts, mode, ...flags }) =>
    fc.record({
      hosts: fc.constant(hosts),
      mode: fc.constant(mode),
      flags: fc.constant(flags),
      stories: fc.tuple(...hosts.map((host) => anyHostStory(host, mode, flags.interrupted || flags.halted))),
      order: fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
      notice: anyText,
      run: anyText,
    }),
  )
  .map(({ hosts, mode, flags, stories, order, notice, run }) => {
    const results = stories.map(({ outcome, body }) => {
      const ended = body.find((event) => event.type === 'host-ended')
      return { outcome, code: ended?.error?.code ?? null }
    })
    const code = exitCode({ ...flags, hosts: results, internal: false })
    const bodies: RunEventBody[] = [
      { ...runStarted, run, hosts, mode, detailedExitCode: flags.detailedExitCode },
      { type: 'notice', host: null, message: notice },
      ...interleaved(
        stories.map((story) => story.body),
        order,
      ),
      { type: 'run-ended', exitCode: code, ms: 12_345, interrupted: flags.interrupted },
    ]
    return { events: bodies.map(stamped), results, exitCode: code }
  })

export const runStarted = {
  type: 'run-started',
  run: '2026-08-24T10-12-09Z-remediate',
  playbook: 'remediate',
  playbookSha256: 'a'.repeat(64),
  hosts: ['web1', 'web2'],
  mode: 'apply',
  forks: 10,
  detailedExitCode: false,
  operator: 'ada',
  reason: null,
  version: '0.1.0',
} as const satisfies RunEventBody

export const stamped = (body: RunEventBody, index = 0): RunEvent => ({
  at: new Date(Date.UTC(2026, 7, 24, 10, 12, index)).toISOString(),
  ...body,
})

export const reportOf = (events: Iterable<RunEvent>): RunReport => {
  const fold = createReportFold()
  for (const event of events) fold.take(event)
  const report = fold.report()
  if (report === undefined) throw new Error('The stream has no run-started.')
  return report
}

const interleaved = (
  lanes: readonly (readonly RunEventBody[])[],
  order: readonly number[],
): readonly RunEventBody[] => {
  const waiting = lanes.map((lane) => [...lane])
  const merged: RunEventBody[] = []
  for (let turn = 0; waiting.some((lane) => lane.length > 0); turn += 1) {
    const open = waiting.filter((lane) => lane.length > 0)
    const lane = open[(order[turn % order.length] ?? 0) % open.length]
    const event = lane?.shift()
    if (event !== undefined) merged.push(event)
  }
  return merged
}
