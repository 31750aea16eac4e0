import { expect, test } from 'vitest'
import { cellsOf, columns, type StatusRow } from '../../src/cli/status-row.ts'
import { summaryLines } from '../../src/cli/status-summary.ts'
import { rowFilter } from '../../src/cli/status-where.ts'
import { tableLines } from '../../src/cli/table.ts'
import { viewOf } from '../../src/facts/view.ts'
import { createPaint } from '../../src/report/paint.ts'
import { assess, statusFacts } from '../../src/tasks/agent/assess.ts'
import { aHost, runningHost, stuckHost } from '../tasks/deployed.ts'
import { type HostLiteral, hostState } from '../tasks/host-state.ts'

const plain = createPaint(false)

const rowOf = (name: string, literal: HostLiteral): StatusRow => {
  const host = aHost({ name })
  const state = hostState(literal, statusFacts(host))
  return { host: name, withoutRoot: state.os.uid !== 0, status: assess(viewOf(state), host) }
}

const error: StatusRow = {
  host: 'gone',
  withoutRoot: false,
  error: { code: 'connect-timeout', message: 'No answer.', remedy: 'Look at the network.' },
}
const lease = { run: 'r1', owner: 'bob@desk', since: '2026-01-02T03:04:05Z', ageS: 3 }
const rows: readonly StatusRow[] = [
  rowOf('s1', stuckHost()),
  rowOf('s2', stuckHost({ os: { id: 'ubuntu', versionId: '24.04' } })),
  rowOf(
    'unwired',
    runningHost({ self: { rollback: { phase: 'armed', text: 'r0 ada@desk 2026 1042 abc upgrade to v2' } } }),
  ),
  rowOf('held', runningHost({ self: { lease } })),
  rowOf('bare', {}),
  error,
]

test('each row shows what was seen', () => {
  expect(rows.map((row) => columns.map((column) => cellsOf(row)[column]).join(' | '))).toMatchInlineSnapshot(`
    [
      "s1 | rocky 9.8 | 252 | v0.2.0 | active | LEGACY | inactive/disabled | kube1 inactive | stuck | remediate",
      "s2 | ubuntu 24.04 | 252 | v0.2.0 | active | LEGACY | inactive/disabled | kube1 inactive | stuck | remediate",
      "unwired | rocky 9.8 | 252 | v0.2.0 | active | LEGACY | active/disabled | kube1 active | not-wired | machines-target",
      "held | rocky 9.8 | 252 | v0.2.0 | active | LEGACY | active/disabled | kube1 active | locked | -",
      "bare | rocky 9.8 | 252 | - | - | ABSENT | inactive/disabled | - | no-agent | -",
      "gone | ? | ? | ? | ? | ? | ? | ? | connect-timeout | -",
    ]
  `)
})

test.each([
  [['verdict=stuck'], ['s1', 's2']],
  [['verdict=stuck', 'os=ubuntu*'], ['s2']],
  [['verdict=stuck,no-agent'], ['s1', 's2', 'bare']],
  [['agent=-'], ['bare']],
  [['fix=remediate'], ['s1', 's2']],
  [['VERDICT=Connect-Timeout'], ['gone']],
  [['host=s?'], ['s1', 's2']],
  [[], ['s1', 's2', 'unwired', 'held', 'bare', 'gone']],
])('--where %j leaves %j', (conditions, hosts) => {
  expect(rows.filter(rowFilter(conditions)).map(({ host }) => host)).toEqual(hosts)
})

test('the summary counts versions and verdicts, names what is armed and locked, and says what to run next', () => {
  expect(
    summaryLines(rows, {
      paint: plain,
      verbose: 0,
      inventory: ['my hosts.yaml'],
      connection: ['-u', 'the admin', '-b'],
    }),
  ).toMatchInlineSnapshot(`
    [
      "",
      "s1: systemd-nspawn@kube1.service is enabled and inactive; machines.target is inactive",
      "s2: systemd-nspawn@kube1.service is enabled and inactive; machines.target is inactive",
      "unwired: all runs, but the next boot would not start machines.target",
      "held: held by bob@desk, run r1",
      "bare: no agent is installed",
      "gone: No answer. [connect-timeout]",
      "  fix: Look at the network.",
      "",
      "6 hosts: 2 stuck, 1 connect-timeout, 1 locked, 1 no-agent, 1 not-wired",
      "agents: 4 v0.2.0, 1 none",
      "rollback: unwired: the rollback of the upgrade to v2 that run r0 by ada@desk armed fires in 42 s",
      "  fix: drover confirm -l unwired keeps what it guards, drover rollback --now -l unwired undoes it at once.",
      "locked: held (run r1 of bob@desk)",
      "next: drover run remediate -i 'my hosts.yaml' -u 'the admin' -b -l s1,s2 --check",
      "next: drover run machines-target -i 'my hosts.yaml' -u 'the admin' -b -l unwired --check",
    ]
  `)
})

test('many hosts for one playbook are handed over in a file', () => {
  const many = Array.from({ length: 11 }, (_, index) => rowOf(`s${index}`, stuckHost()))
  const lines = summaryLines(many, { paint: plain, verbose: 0, inventory: ['h.yaml'], connection: [] })
  expect(lines.at(-1)).toBe(
    'next: drover status -i h.yaml --where fix=remediate -o names > remediate.txt && drover run remediate -i h.yaml -l @remediate.txt --check',
  )
  expect(lines).toContain('… and 1 host more; -v shows all')
})

test('a host that was read without root says so', () => {
  const row = rowOf('seen', runningHost({ os: { uid: 1000 } }))
  expect(summaryLines([row], { paint: plain, verbose: 0, inventory: [], connection: [] })).toContain(
    'read without root, so in part: seen',
  )
})

const table = [
  [{ text: 'a' }, { text: 'a long text indeed', tone: 'bad' as const }, { text: 'x' }],
  [{ text: 'bcd' }, { text: 'e\u001b[2J' }, { text: '' }],
]
const cutTo = (width: number | null) => tableLines(['H', 'TWO', 'THREE'], table, { paint: plain, width })

test('columns are aligned and escaped', () => {
  expect(cutTo(null)).toEqual(['H    TWO                 THREE', 'a    a long text indeed  x', 'bcd  e\\x1b[2J'])
  expect(tableLines(['H'], [[{ text: 'a', tone: 'bad' }]], { paint: createPaint(true), width: null })[1]).toBe(
    '\u001b[31ma\u001b[39m',
  )
})

test('on a narrow terminal the widest column gives way, and at last the end of the line', () => {
  expect(cutTo(22)).toEqual(['H    TWO         THREE', 'a    a long te…  x', 'bcd  e\\x1b[2J'])
  expect(cutTo(12)).toEqual(['H    TWO', 'a    a long…', 'bcd  e\\x1b[…'])
})
