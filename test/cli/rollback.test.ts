import { expect, test } from 'vitest'
import { questionOf } from '../../src/runner/converge.ts'
import { tasks } from '../../src/tasks/registry.ts'
import { answerOf, type RecordedHost } from '../facts/answers.ts'
import { armedBy, lineOf } from '../runner/guarded-world.ts'
import { applies, says } from '../runner/world.ts'
import { answer, createFakeConnection } from '../transport/fake-connection.ts'
import { fakeHost } from '../transport/fake-host.ts'
import { drover, readJson, runsOf } from './harness.ts'

const files = { 'hosts.yaml': 'hosts:\n  a: {user: root}\n  b: {user: root}\n' }
const step = (task: string) => ({ name: task, task, params: { within_s: 600 }, when: null })
const seen = (task: string, host: RecordedHost) =>
  answer(answerOf(questionOf({ host: fakeHost({ name: 'a' }), steps: [step(task)] }, tasks), host))

const ended = (
  verb: string[],
  task: string,
  scripts: Parameters<typeof createFakeConnection>[0],
  self = [armedBy('r0')],
) => {
  const a = createFakeConnection({ inspect: seen(task, { self }), ...scripts })
  return drover([...verb, '-i', 'hosts.yaml', '-l', 'a'], { files, hosts: { a } })
}

test('confirm is a run: it disarms, looks again, and has a journal and reports', async () => {
  const ran = await ended(['confirm', '--reason', 'looked at'], 'rollback-confirmed', {
    apply: applies,
    verify: seen('rollback-confirmed', {}),
  })
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  expect(ran.stdout).toContain('changed: [a] rollback-confirmed: disarm the rollback of run r0')
  expect(ran.stdout).toContain(
    'notice: [a] the rollback of the upgrade to v2 that run r0 by me@here armed fires in 100 s',
  )
  expect(readJson(runsOf(ran)[0] ?? '', 'run.json')).toMatchObject({
    playbook: { name: 'confirm', file: 'built-in/confirm.yaml' },
    reason: 'looked at',
  })
  expect(readJson(runsOf(ran)[0] ?? '', 'report.json')).toMatchObject({ exitCode: 0, hosts: [{ outcome: 'changed' }] })
})

test('rollback --now has it undone, which is what was asked for', async () => {
  const ran = await ended(['rollback', '--now'], 'rollback-fired', {
    apply: applies,
    verify: seen('rollback-fired', {}),
  })
  expect(ran.code).toBe(0)
  expect(ran.stdout).toContain('changed: [a] rollback-fired: fire the rollback of run r0')
  expect(readJson(runsOf(ran)[0] ?? '', 'run.json')).toMatchObject({ playbook: { name: 'rollback-now' } })
})

test.each([
  ['confirm, and the timer was faster', ['confirm'], 'rollback-confirmed', 7, lineOf('r0'), 7, 'rolled back: [a]'],
  [
    'rollback, and somebody else has changed it',
    ['rollback', '--now'],
    'rollback-fired',
    5,
    lineOf('r0', 'superseded'),
    2,
    '[rollback-superseded]',
  ],
  [
    'confirm, and the host has given up with all files back',
    ['confirm'],
    'rollback-confirmed',
    7,
    lineOf('r0', 'rolled-back-not-up'),
    2,
    'It was not confirmed in time. The rollback of run r0 has put all files back',
  ],
  [
    'rollback, and what ran before does not stay up',
    ['rollback', '--now'],
    'rollback-fired',
    4,
    lineOf('r0', 'rolled-back-not-up'),
    2,
    'has put all files back, and the agent does not stay up with them either',
  ],
  ['rollback, and it goes on trying', ['rollback', '--now'], 'rollback-fired', 6, '', 2, '[rollback-failed]'],
])('%s', async (_, verb, task, code, words, exitCode, shown) => {
  const ran = await ended(verb, task, {
    apply: says(`~B 0\n${words}\n~F 0 ${code}\n~R exit-code exited 1\n`),
    release: answer(''),
  })
  expect(ran.code).toBe(exitCode)
  expect(ran.stdout).toContain(shown)
})

test.each([
  [['confirm'], 'rollback-confirmed'],
  [['rollback', '--now'], 'rollback-fired'],
])('%j where nothing is armed changes nothing; -C says what would be done', async (verb, task) => {
  const none = await ended(verb, task, {}, [])
  expect([none.code, /^ok: /m.test(none.stdout)]).toEqual([0, true])
  const check = await ended([...verb, '-C', '--detailed-exitcode'], task, {})
  expect([check.code, /^would change: /m.test(check.stdout)]).toEqual([6, true])
})

test('rollback alone is refused before anything is touched, and says what the two are', async () => {
  const ran = await drover(['rollback', '-i', 'hosts.yaml', '-l', 'a'], { files })
  expect([ran.code, ran.connects]).toEqual([5, []])
  expect(ran.stderr).toMatch(/drover rollback --now.*drover run rollback/s)
})

test('they are verbs and no playbooks', async () => {
  const ran = await drover(['playbooks'])
  expect(ran.stdout).not.toMatch(/^(confirm|rollback-now) /m)
})
