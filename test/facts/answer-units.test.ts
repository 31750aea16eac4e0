import { describe, expect, test } from 'vitest'
import { readAnswer } from '../../src/facts/answer.ts'
import type { Fact } from '../../src/facts/fact.ts'
import { questionFor } from '../../src/facts/question.ts'
import { seconds } from '../../src/facts/time-span.ts'
import { answerOf, type RecordedHost } from './answers.ts'

const unitsOf = (names: readonly string[], host: RecordedHost, starts = false) => {
  const question = questionFor(names.map((name): Fact => ({ kind: 'unit', name, ...(starts && { starts }) })))
  return readAnswer(question, answerOf(question, host))
}
const execStart = (argv: string, process: string): string =>
  `{ path=/bin/sh ; argv[]=${argv} ; ignore_errors=no ; ${process} }`
const running = 'start_time=[Mon 2026-11-30 14:57:20 UTC] ; stop_time=[n/a] ; pid=102 ; code=(null) ; status=0/0'
const ended = 'start_time=[n/a] ; stop_time=[Mon 2026-11-30 15:00:00 UTC] ; pid=0 ; code=exited ; status=1/FAILURE'

test('an ExecStart is the same whatever its process has been doing', () => {
  const of = (process: string) =>
    unitsOf(['a.service'], { units: { 'a.service': { ExecStart: execStart('/bin/sh -c x', process) } } }).units.get(
      'a.service',
    )?.properties.ExecStart
  expect(of(running)).toBe('{ path=/bin/sh ; argv[]=/bin/sh -c x ; ignore_errors=no }')
  expect(of(ended)).toBe(of(running))
})

test('a target has no main process, and the units after it keep theirs', () => {
  const { units } = unitsOf(['machines.target', 'a.service', 'gone.service', 'b.service'], {
    units: {
      'machines.target': { LoadState: 'loaded', ActiveState: 'active' },
      'a.service': { LoadState: 'loaded', MainPID: '11' },
      'b.service': { LoadState: 'loaded', MainPID: '12' },
    },
    exes: { 11: '/opt/a', 12: '/opt/b (deleted)' },
  })
  expect([...units].map(([name, { exe }]) => [name, exe])).toEqual([
    ['machines.target', ''],
    ['a.service', '/opt/a'],
    ['gone.service', ''],
    ['b.service', '/opt/b'],
  ])
})

test('a process that the host does not show is not no process', () => {
  expect(unitsOf(['a.service'], { units: { 'a.service': { MainPID: '11' } } }).units.get('a.service')?.exe).toBe('?')
})

test('an alias answers with another Id and is still what was asked', () => {
  const { units } = unitsOf(['alias.service'], {
    units: { 'alias.service': { Id: 'real.service', LoadState: 'loaded' } },
  })
  expect(units.get('alias.service')?.properties).toMatchObject({ Id: 'real.service', LoadState: 'loaded' })
})

describe('command lines with lines of their own', () => {
  test('a oneshot shows one ExecStart for each command', () => {
    const { units } = unitsOf(['a.service', 'b.service'], {
      units: {
        'a.service': 'MainPID=0\nExecStart={ 1 }\nExecStart={ 2 }\nId=a.service\nLoadState=loaded\n',
        'b.service': { LoadState: 'masked' },
      },
    })
    expect(units.get('a.service')?.properties.ExecStart).toBe('{ 1 }\n{ 2 }')
    expect(units.get('b.service')?.properties.LoadState).toBe('masked')
  })
  test('an empty line inside a command does not move the units after it', () => {
    const { units } = unitsOf(['a.service', 'b.service'], {
      units: {
        'a.service': 'MainPID=0\nExecStart={ argv[]=sh -c echo a\n\nb=c }\nWants=x\nId=a.service\nLoadState=loaded\n',
        'b.service': { LoadState: 'masked' },
      },
    })
    expect(units.get('a.service')?.properties).toMatchObject({
      ExecStart: '{ argv[]=sh -c echo a\n\nb=c }',
      Wants: 'x',
      LoadState: 'loaded',
    })
    expect(units.get('b.service')?.properties.LoadState).toBe('masked')
  })
  test.each(['MainPID=1', 'Id=x\n\nId=y', 'Wants=evil'])(
    'one that looks like an answer of its own (%j) is refused, not believed',
    (forged) => {
      expect(() =>
        unitsOf(['a.service'], {
          units: { 'a.service': `MainPID=0\nExecStart={ argv[]=x\n${forged} }\nWants=x\nId=a.service\n` },
        }),
      ).toThrow(/section units/)
    },
  )
})

test("only starts inside the unit's own window count", () => {
  const count = (StartLimitIntervalUSec: string) =>
    unitsOf(
      ['a.service'],
      { units: { 'a.service': { StartLimitIntervalUSec } }, starts: { 'a.service': [3599, 301, 300, 10, -2] } },
      true,
    ).units.get('a.service')?.starts
  expect(count('5min')).toBe(3)
  expect(count('1h')).toBe(5)
  expect(count('infinity')).toBe(5)
  expect(count('0')).toBe(1)
})

test('where systemctl does not answer there is no unit, and the reason is kept', () => {
  const state = unitsOf(['a.service'], { noSystemd: 'System has not been booted with systemd\n' })
  expect(state.units.size).toBe(0)
  expect(state.systemd).toEqual({
    ok: false,
    error: 'systemctl show ended with 1: System has not been booted with systemd',
  })
})

test.each([
  ['5min', 300],
  ['1min 30s', 90],
  ['1h 1min 1s 500ms', 3661.5],
  ['1d', 86_400],
  ['1w 2d', 777_600],
  ['1month', 2_629_800],
  ['1y', 31_557_600],
  ['250us', 0.00025],
  ['10', 10],
  ['0', 0],
  ['', 0],
  ['infinity', Number.POSITIVE_INFINITY],
])('the time span %j is %d s', (span, expected) => expect(seconds(span)).toBeCloseTo(expected, 9))
