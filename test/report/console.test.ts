import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import { type ConsoleOptions, createConsole } from '../../src/report/console.ts'
import type { RunEventBody } from '../../src/runner/events.ts'
import { anyStream, runStarted, stamped } from './streams.ts'

const plain = { colour: false, verbose: 0, diff: false, reports: null }

const screenOf = (bodies: readonly RunEventBody[], options: Partial<ConsoleOptions> = {}): string[] => {
  let screen = ''
  const sink = createConsole({ ...plain, ...options, write: (text) => (screen += text) })
  for (const [index, body] of bodies.entries()) sink(stamped(body, index))
  return screen.split('\n').slice(0, -1)
}

const error = {
  code: 'auth-failed',
  message: 'web2 refused every key.',
  remedy: 'Add a key.',
  detail: 'tried: a\ntried: b',
} as const
const step = (
  result: 'ok' | 'changed' | 'skipped' | 'would-change',
  name: string,
  ...summaries: string[]
): RunEventBody => ({
  type: 'step-ended',
  host: 'web1',
  step: name,
  task: name,
  result,
  changes: summaries.map((summary) => ({ summary, diff: `--- ${summary}\n+new\u001b[1m` })),
})
const ended: RunEventBody = { type: 'run-ended', exitCode: 4, ms: 61_000, interrupted: false }

const story: readonly RunEventBody[] = [
  runStarted,
  { type: 'host-started', host: 'web1' },
  { type: 'host-connected', host: 'web1', ms: 120, server: 'SSH-2.0-OpenSSH_9.2' },
  { type: 'exec', host: 'web1', verb: 'inspect', ms: 340, code: 0 },
  step('ok', 'os-supported'),
  step('changed', 'unit', 'write unit', 'reload', 'restart', 'wait'),
  step('skipped', 'link'),
  { type: 'host-ended', host: 'web1', outcome: 'changed', changes: 4, ms: 900 },
  { type: 'host-ended', host: 'web2', outcome: 'unreachable', changes: 0, ms: 10_000, error },
  ended,
]

describe('console', () => {
  test('tells a run in the words of the field, ending in the recap, what to do next and where to look', () => {
    expect(screenOf(story, { reports: '.drover/runs/x' })).toEqual([
      `PLAY [remediate] ${'*'.repeat(62)}`,
      'ok: [web1] os-supported',
      'changed: [web1] unit: write unit; reload; restart; wait',
      'skipping: [web1] link',
      'unreachable: [web2]: web2 refused every key. [auth-failed]',
      '  fix: Add a key.',
      '    tried: a',
      '    tried: b',
      '',
      `PLAY RECAP ${'*'.repeat(68)}`,
      'web1                       : ok=2    changed=1    unreachable=0    failed=0    skipped=1    rescued=0    ignored=0',
      'web2                       : ok=0    changed=0    unreachable=1    failed=0    skipped=0    rescued=0    ignored=0',
      '',
      '2 hosts: 1 changed, 1 unreachable in 1 min 01 s',
      'exit code 4: Hosts could not be reached, and nothing worse happened.',
      '1 host: auth-failed – Add a key.',
      '  web2',
      'next: put the causes above right, then run the same again with -l @.drover/runs/x/unfinished',
      'reports: .drover/runs/x',
    ])
  })

  test('the command to go on with is quoted where the path needs that', () => {
    const next = (reports: string): string | undefined =>
      screenOf(story, { reports }).find((line) => line.startsWith('next: '))
    const asked = 'next: put the causes above right, then run the same again with -l'
    expect(next('/srv/my runs/x')).toBe(`${asked} '@/srv/my runs/x/unfinished'`)
    expect(next("/srv/it's\u001b[2J/x")).toBe(`${asked} '@/srv/it'\\''s\\x1b[2J/x/unfinished'`)
  })

  test('-v adds the connection, the commands and good checks; -D adds diffs', () => {
    const verbose = screenOf(story, { verbose: 1 })
    expect(verbose).toContain('connected: [web1] in 120 ms, SSH-2.0-OpenSSH_9.2')
    expect(verbose).toContain('exec: [web1] inspect in 340 ms, exit 0')
    expect(verbose).toContain('ended: [web1] changed, 4 changes in 900 ms')
    expect(screenOf(story, { diff: true })).toEqual(expect.arrayContaining(['    --- write unit', '    +new\\x1b[1m']))
    expect(screenOf(story).join('\n')).not.toContain('+new')
  })

  test('a check lists what would change, and says how to do it', () => {
    const run: RunEventBody[] = [
      { ...runStarted, mode: 'check', hosts: ['web1'] },
      {
        type: 'host-planned',
        host: 'web1',
        segment: 0,
        steps: [{ step: 'healthy', task: 'healthy', changes: [], knownAfter: 'known after unit' }],
      },
      step('would-change', 'unit', 'write unit'),
      { type: 'step-ended', host: 'web1', step: 'healthy', task: 'healthy', result: 'unknown', changes: [] },
      { type: 'host-ended', host: 'web1', outcome: 'would-change', changes: 1, ms: 5 },
      { type: 'run-ended', exitCode: 0, ms: 5, interrupted: false },
    ]
    const screen = screenOf(run)
    expect(screen.slice(0, 3)).toEqual([
      `PLAY [remediate] [CHECK MODE] ${'*'.repeat(49)}`,
      'would change: [web1] unit: write unit',
      'unknown: [web1] healthy (known after unit)',
    ])
    expect(screen).toContain(
      'web1                       : ok=1    changed=1    unreachable=0    failed=0    skipped=1    rescued=0    ignored=0',
    )
    expect(screen.at(-1)).toBe('next: run again without --check to change 1 host')
  })

  describe('a wait that may last is told of before it begins, so that silence does not look like a hang', () => {
    const begun = (waitMs?: number): RunEventBody => ({
      type: 'change-started',
      host: 'web1',
      step: 'worker',
      summary: 'wait until kube1\u001b[2J is active',
      ...(waitMs !== undefined && { waitMs }),
    })
    const waiting = (limit: string): string =>
      `waiting: [web1] worker: wait until kube1\\x1b[2J is active (at most ${limit})`

    test.each([
      [5_000, '5.0 s'],
      [15_500, '15.5 s'],
      [135_000, '2 min 15 s'],
    ])('of %i ms', (waitMs, limit) => expect(screenOf([begun(waitMs)])).toEqual([waiting(limit)]))

    test.each([[4_999], [2_000], [0], [undefined]])('and of %s ms it is not', (waitMs) => {
      expect(screenOf([begun(waitMs)])).toEqual([])
      expect(screenOf([begun(waitMs)], { verbose: 1 })).toEqual([])
    })

    test('-vv shows the others as they begin, and this one once', () => {
      expect(screenOf([begun(), begun(4_999)], { verbose: 2 })).toEqual(
        Array(2).fill('doing: [web1] worker: wait until kube1\\x1b[2J is active'),
      )
      expect(screenOf([begun(5_000)], { verbose: 2 })).toEqual([waiting('5.0 s')])
    })
  })

  test('a step of which nothing can be said yet is unknown, with what it waits for where that is known', () => {
    const unknown = (name: string): RunEventBody => ({
      type: 'step-ended',
      host: 'web1',
      step: name,
      task: 'health-reported',
      result: 'unknown',
      changes: [],
    })
    const planned: RunEventBody = {
      type: 'host-planned',
      host: 'web1',
      segment: 0,
      steps: [
        { step: 'health', task: 'health-reported', changes: [], knownAfter: 'kubelet is known only after: start\nx' },
      ],
    }
    expect(screenOf([runStarted, planned, unknown('health'), unknown('further')]).slice(1)).toEqual([
      'unknown: [web1] health (kubelet is known only after: start\\nx)',
      'unknown: [web1] further',
    ])
  })

  test('a failure is told once, by its step, with the error of its change if the step has none', () => {
    const failure = { code: 'change-failed', message: 'It broke.', remedy: 'Mend it.' } as const
    const screen = screenOf([
      runStarted,
      { type: 'change-failed', host: 'web1', step: 'unit', summary: 'restart', error: failure },
      { type: 'step-ended', host: 'web1', step: 'unit', task: 'unit', result: 'failed', changes: [] },
      { type: 'host-ended', host: 'web1', outcome: 'failed', changes: 0, ms: 1, error: failure },
    ])
    expect(screen.slice(1)).toEqual(['failed: [web1] unit: It broke. [change-failed]', '  fix: Mend it.'])
  })

  test('findings: errors and warnings with their remedy, good ones only with -v', () => {
    const finding = (severity: 'ok' | 'warning' | 'error', ignored: boolean): RunEventBody => ({
      type: 'finding',
      host: 'web1',
      step: 'look',
      finding: {
        check: 'swap-active',
        target: '/proc/swaps',
        severity,
        message: 'swap is on',
        ignored,
        remedy: 'Turn it off.',
      },
    })
    const all = [finding('ok', false), finding('warning', true), finding('error', false)]
    expect(screenOf(all)).toEqual([
      'warning: [web1] swap-active: swap is on (/proc/swaps), an ignored error',
      '  fix: Turn it off.',
      'error: [web1] swap-active: swap is on (/proc/swaps)',
      '  fix: Turn it off.',
    ])
    expect(screenOf(all, { verbose: 1 })[0]).toBe('check ok: [web1] swap-active: swap is on (/proc/swaps)')
  })

  test('checks that were not made are named in one line, with the number of hosts where they are not all', () => {
    const found = (host: string, check: string, severity: 'ok' | 'warning', message: string): RunEventBody => ({
      type: 'finding',
      host,
      step: 'look',
      finding: { check, target: check, severity, message, ignored: false },
    })
    const looked = (host: string): RunEventBody => ({
      type: 'step-ended',
      host,
      step: 'look',
      task: 'preflight-checked',
      result: 'ok',
      changes: [],
    })
    const screen = screenOf([
      { ...runStarted, hosts: ['web1', 'web2', 'gone'] },
      found('web1', 'cgroups', 'ok', 'mounted'),
      found('web1', 'goal-state', 'ok', 'not-run: the agent alone'),
      found('web1', 'api-server-reachable', 'warning', 'not-run: curl is not installed'),
      looked('web1'),
      found('web2', 'goal-state', 'ok', 'not-run: the agent alone'),
      looked('web2'),
      ended,
    ])
    expect(screen.filter((line) => line.startsWith('preflight not-run'))).toEqual([
      'preflight not-run: goal-state, api-server-reachable (1 host)',
    ])
    expect(screenOf(story).join('\n')).not.toContain('not-run')
  })

  test('failures of a fleet are grouped by code, the most frequent first', () => {
    const hosts = Array.from({ length: 14 }, (_, index) => `web${index}`)
    const screen = screenOf([
      { ...runStarted, hosts: ['disk', ...hosts] },
      {
        type: 'host-ended',
        host: 'disk',
        outcome: 'failed',
        changes: 0,
        ms: 1,
        error: { ...error, code: 'change-failed', remedy: 'Free space.' },
      },
      ...hosts.map(
        (host): RunEventBody => ({ type: 'host-ended', host, outcome: 'unreachable', changes: 0, ms: 1, error }),
      ),
      { ...ended, exitCode: 2 },
    ])
    const from = screen.indexOf('14 hosts: auth-failed – Add a key.')
    expect(screen.slice(from - 1, from + 4)).toEqual([
      'exit code 2: A host failed or is blocked. (also 4)',
      '14 hosts: auth-failed – Add a key.',
      '  web0, web1, web2, web3, web4, web5, web6, web7, web8, web9 and 4 more',
      '1 host: change-failed – Free space.',
      '  disk',
    ])
  })

  test('a long detail is shortened to its end, and -v shows all of it', () => {
    const detail = Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n')
    const run: RunEventBody[] = [
      runStarted,
      { type: 'host-ended', host: 'web1', outcome: 'failed', changes: 0, ms: 1, error: { ...error, detail } },
    ]
    expect(screenOf(run)).toEqual(
      expect.arrayContaining(['    … 30 lines before these are in the report', '    line 49']),
    )
    expect(screenOf(run)).not.toContain('    line 29')
    expect(screenOf(run, { verbose: 1 })).toContain('    line 0')
  })

  test('no host paints the terminal or forges a line, at any verbosity', () => {
    fc.assert(
      fc.property(anyStream, fc.nat({ max: 2 }), fc.boolean(), ({ events }, verbose, diff) => {
        const chunks: string[] = []
        const sink = createConsole({ ...plain, verbose, diff, write: (text) => chunks.push(text) })
        events.forEach(sink)
        const screen = chunks.join('')
        expect(screen.replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u)
        expect(screen.split('\n').filter((line) => line.startsWith('ok: [other]'))).toEqual([])
        expect(chunks.every((chunk) => chunk.endsWith('\n'))).toBe(true)
      }),
    )
  })

  test('colour changes nothing but the colour, and a zero has none', () => {
    const coloured = screenOf(story, { colour: true })
    expect(coloured.map(stripVTControlCharacters)).toEqual(screenOf(story))
    expect(coloured.join('\n')).toContain('\u001b[32mok: [web1] os-supported\u001b[39m')
    expect(coloured.join('\n')).toContain('failed=0 ')
  })
})

describe('what a host undoes by itself', () => {
  const firesAt = '2026-08-24T10:20:00.000Z'
  const armed = (host: string): RunEventBody => ({ type: 'rollback-armed', host, what: 'upgrade to v2', firesAt })
  const end = (host: string, outcome: 'changed' | 'failed' | 'rolled-back', code?: ErrorCode): RunEventBody => ({
    ...{ type: 'host-ended', host, outcome, changes: 5, ms: 900 },
    ...(code !== undefined && { error: { code, message: 'The connection broke.', remedy: 'Wait.', detail: 'dead' } }),
  })
  const disarmed: RunEventBody = { type: 'rollback-disarmed', host: 'web1', what: 'upgrade to v2' }

  test('is said as it is armed, and in the end of the hosts on which it still is', () => {
    const screen = screenOf([
      runStarted,
      armed('web1'),
      armed('web2'),
      disarmed,
      end('web1', 'changed'),
      end('web2', 'failed', 'connection-lost'),
      { ...ended, exitCode: 2 },
    ])
    expect(screen.slice(1, 3)).toEqual(
      ['web1', 'web2'].map(
        (host) => `armed: [${host}] upgrade to v2: undone by the host itself at ${firesAt} unless confirmed`,
      ),
    )
    const from = screen.indexOf('2 hosts: 1 changed, 1 failed in 1 min 01 s')
    expect(screen.slice(from, from + 6)).toEqual([
      '2 hosts: 1 changed, 1 failed in 1 min 01 s',
      'exit code 2: A host failed or is blocked.',
      `rollback armed: web2 undoes the upgrade to v2 by itself at ${firesAt} unless confirmed`,
      '  keep: drover confirm -l web2; undo at once: drover rollback --now -l web2',
      '1 host: connection-lost – Wait.',
      '  web2',
    ])
  })
  test('and has undone is a host of its own kind, with the cause and its words, and nothing is armed', () => {
    const screen = screenOf([
      { ...runStarted, hosts: ['web1'] },
      armed('web1'),
      end('web1', 'rolled-back', 'rolled-back'),
      { ...ended, exitCode: 7 },
    ])
    expect(screen.slice(2)).toEqual([
      'rolled back: [web1]: The connection broke. [rolled-back]',
      '  fix: Wait.',
      '    dead',
      '',
      `PLAY RECAP ${'*'.repeat(68)}`,
      'web1                       : ok=0    changed=0    unreachable=0    failed=1    skipped=0    rescued=0    ignored=0',
      '',
      '1 host: 1 rolled-back in 1 min 01 s',
      'exit code 7: A host was rolled back.',
      '1 host: rolled-back – Wait.',
      '  web1',
      'next: put the causes above right, then run the same again with -l those hosts',
    ])
  })
  test('is not told twice where its step has told it', () => {
    const error = { code: 'rolled-back', message: 'The connection broke.', remedy: 'Wait.', detail: 'dead' } as const
    const screen = screenOf([
      { ...runStarted, hosts: ['web1'] },
      { type: 'step-ended', host: 'web1', step: 'agent', task: 'agent-upgraded', result: 'failed', changes: [], error },
      end('web1', 'rolled-back', 'rolled-back'),
    ])
    expect(screen.filter((line) => line.includes('The connection broke.'))).toHaveLength(1)
    expect(screen.at(-1)).toBe('rolled back: [web1]')
  })
  test.each<[ErrorCode, boolean]>([
    ['rollback-superseded', false],
    ['rollback-failed', false],
    ['change-failed', true],
  ])('of a host that ended with %s is armed: %s', (code, isArmed) => {
    const screen = screenOf([runStarted, armed('web1'), end('web1', 'failed', code), ended])
    expect(screen.some((line) => line.startsWith('rollback armed: web1'))).toBe(isArmed)
  })
  test('paints no terminal', () => {
    const screen = screenOf([runStarted, { ...armed('web1\u001b[2J'), what: 'x\u001b[2J' } as RunEventBody, ended], {
      verbose: 2,
    })
    expect(screen.join('\n')).not.toContain('\u001b')
  })
})

describe('hosts that say nothing', () => {
  const stalls: readonly RunEventBody[] = [
    runStarted,
    { type: 'host-stalled', host: 'web1', where: 'inspect section paths', silentMs: 30_000 },
    { type: 'host-stalled', host: 'web1', where: 'inspect section paths', silentMs: 60_000 },
    { type: 'host-stalled', host: 'web2', where: 'connect: \u001b[2Jlogin', silentMs: 30_000 },
    { type: 'host-moving', host: 'web1', where: 'inspect section paths', silentMs: 92_000 },
    ended,
  ]
  test('are told of with where and for how long, when they move, and in the end with their longest silence', () => {
    const screen = screenOf(stalls)
    expect(screen.slice(1, 5)).toEqual([
      'stalled: [web1] silent for 30.0 s in inspect section paths',
      'stalled: [web1] silent for 1 min 00 s in inspect section paths',
      expect.stringMatching(/^stalled: \[web2\] silent for 30\.0 s in connect: .*login$/),
      'moving: [web1] after 1 min 32 s in inspect section paths',
    ])
    expect(screen.join('\n')).not.toContain('\u001b')
    expect(screen.find((line) => line.startsWith('stalled meanwhile'))).toMatch(
      /^stalled meanwhile: web1 \(1 min 32 s in inspect section paths\), web2 \(30\.0 s in connect: /,
    )
  })
  test('and a run in which none did says nothing of it', () => {
    expect(screenOf(story).filter((line) => line.includes('stalled'))).toEqual([])
  })
})
