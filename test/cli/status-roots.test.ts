import { describe, expect, test } from 'vitest'
import { rootLines } from '../../src/cli/status-roots.ts'
import type { StatusRow } from '../../src/cli/status-row.ts'
import { summaryLines } from '../../src/cli/status-summary.ts'
import { viewOf } from '../../src/facts/view.ts'
import { createPaint } from '../../src/report/paint.ts'
import { assess, statusFacts } from '../../src/tasks/agent/assess.ts'
import { aHost, enabledTarget, runningHost } from '../tasks/deployed.ts'
import { type HostLiteral, hostState, type PathLiteral } from '../tasks/host-state.ts'

const ROOT = '/opt/unbounded/agent'
const rowOf = (name: string, paths: Record<string, PathLiteral>, more: HostLiteral = {}): StatusRow => {
  const host = aHost({ name })
  const literal = runningHost({ ...more, paths: { ...enabledTarget, ...paths } })
  return { host: name, withoutRoot: false, status: assess(viewOf(hostState(literal, statusFacts(host))), host) }
}
const linesOf = (rows: readonly StatusRow[]): readonly string[] =>
  summaryLines(rows, { paint: createPaint(false), verbose: 0, inventory: ['h.yaml'], connection: [] })

const linked = { [ROOT]: { link: '/usr/local' } }
const mark = (modifiedS: number): Record<string, PathLiteral> => ({
  [`${ROOT}/.moving`]: { file: '', modifiedS },
  [`${ROOT}/bin/aks-flex-node`]: { file: 'ELF' },
})

describe('below the table of status', () => {
  test('linked hosts are grouped by what they wait for, and an operator link is named', () => {
    const rows = [
      rowOf('a', linked),
      rowOf('b', linked),
      rowOf('c', { [ROOT]: { link: '/data/agent' } }),
      rowOf('d', {}),
      rowOf('e', mark(999_900)),
    ]
    expect(rootLines(rows)).toEqual([
      expect.stringMatching(/^root: a, b: LINKED, waiting-for-release: ./),
      expect.stringMatching(/^root: c: OPERATOR-LINK: An operator made ./),
    ])
    expect(linesOf(rows)).toEqual(expect.arrayContaining([...rootLines(rows)]))
  })

  test('11.32 a stuck move: the state, its reason, what to do, and the command', () => {
    const reason = "could not move the agent's files: no space left on device"
    const lines = linesOf([rowOf('n7', mark(999_000), { probes: { 'move-journal': `${reason}\n` } })])
    expect(lines[1]).toMatch(
      /^n7: MOVING-1: .* for 16 minutes, .*; it said: could not move the agent's files: no space/,
    )
    expect(lines[2]).toMatch(/^ {2}fix: Put right what it says .* Never delete/)
    expect(lines.at(-1)).toBe('next: drover run migrate -i h.yaml -l n7 --check')
  })

  test('a root that another trouble hides is told of all the same', () => {
    const down = { units: { 'systemd-nspawn@kube1.service': { ActiveState: 'inactive' } } }
    const conflict = { [`${ROOT}/bin/aks-flex-node`]: { file: 'ELF' } }
    const rows = [rowOf('a', mark(999_000), down), rowOf('b', conflict, down), rowOf('c', linked, down)]
    expect(rows.map((row) => 'status' in row && row.status.verdict)).toEqual(['stuck', 'stuck', 'stuck'])
    expect(rootLines(rows)).toEqual([
      expect.stringMatching(/^root: a: MOVING-1: ./),
      expect.stringMatching(/^root: b: CONFLICT: ./),
      expect.stringMatching(/^root: c: LINKED, waiting-for-release: ./),
    ])
  })

  test('a move that goes on offers nothing', () => {
    const lines = linesOf([rowOf('n7', mark(999_900))])
    expect(lines).toContain('1 host: 1 moving')
    expect(lines.filter((line) => line.startsWith('next:'))).toEqual([])
  })

  test('11.34 a conflict: what it is, and what a person has to decide', () => {
    const lines = linesOf([rowOf('n7', { [`${ROOT}/bin/aks-flex-node`]: { file: 'ELF' } })])
    expect(lines[1]).toMatch(/^n7: CONFLICT: /)
    expect(lines[2]).toMatch(/^ {2}fix: Find out which of the two the node runs/)
    expect(lines.filter((line) => line.startsWith('next:'))).toEqual([])
  })

  test('what the agent says cannot move the cursor', () => {
    const lines = linesOf([rowOf('n7', mark(999_000), { probes: { 'move-journal': 'could not \u001b[2J\n' } })])
    expect(lines.join('\n')).not.toContain('\u001b')
  })
})
