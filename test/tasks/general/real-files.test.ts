import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { summaryOf } from '../../../src/changes/describe.ts'
import { expectationsOf } from '../../../src/changes/expect.ts'
import { predict } from '../../../src/changes/predict.ts'
import { readAnswer } from '../../../src/facts/answer.ts'
import { inspectScript, questionFor } from '../../../src/facts/question.ts'
import type { HostState } from '../../../src/facts/state.ts'
import type { Value } from '../../../src/playbook/value.ts'
import { applyScript } from '../../../src/runner/apply-script.ts'
import { Secret } from '../../../src/secret.ts'
import { tasks } from '../../../src/tasks/registry.ts'
import { aHost } from '../deployed.ts'
import { paramsOf, planOn, type Result, resultOf } from './planning.ts'

// The scripts that run on hosts, run here on a directory of our own: what is predicted is what comes of it.
let base = ''
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'drover-general-')))
})
afterEach(() => rmSync(base, { recursive: true }))

const owner = `${process.getuid?.()}:${process.getgid?.()}`

const inspect = (facts: Parameters<typeof questionFor>[0]): HostState => {
  const question = questionFor(facts)
  const { script, args } = inspectScript(question)
  return readAnswer(question, execFileSync('/bin/sh', ['-c', script, 'drover', ...args], { encoding: 'utf8' }))
}

/** Plans the step, carries it out, and plans it again on what is there then. */
const twice = (name: string, input: { readonly [key: string]: Value }): { first: Result; second: Result } => {
  const task = tasks.get(name)
  if (task === undefined) throw new Error(name)
  const params = paramsOf(task, input)
  const facts = task.facts(params, aHost())
  const state = inspect(facts)
  const planned = planOn(task, params, state)
  let predicted = state
  const changes = (planned.status === 'planned' ? planned.changes : []).map((change) => {
    const expects = expectationsOf(predicted, change)
    predicted = predict(predicted, change)
    return { change, expects, summary: summaryOf(change) }
  })
  const { script, content } = applyScript({ id: 'r1', operator: 'test', reason: null }, changes)
  const run = mkdtempSync(join(base, '.run-'))
  for (const [file, bytes] of [
    ['content', content],
    ['out', ''],
    ['script', script('token', Number.MAX_SAFE_INTEGER)],
  ] as const)
    writeFileSync(join(run, file), bytes)
  const said = execFileSync('/bin/sh', [join(run, 'script'), 'work', run], { encoding: 'utf8' })
  rmSync(run, { recursive: true })
  expect(said).toMatch(/\x1etoken T\n$/)
  return { first: resultOf(planned), second: resultOf(planOn(task, params, inspect(facts))) }
}

const bits = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8)

test('a file is written where links lead, and a secret one for its owner alone', () => {
  mkdirSync(join(base, 'real'))
  symlinkSync('real', join(base, 'way'))
  expect(twice('file-present', { path: `${base}/way/a b`, content: "it's\n", owner })).toEqual({
    first: [`write ${base}/real/a b (0644 ${owner}, 5 bytes)`],
    second: [],
  })
  expect(readFileSync(join(base, 'real/a b'), 'utf8')).toBe("it's\n")
  expect(twice('file-present', { path: `${base}/token`, content: new Secret('x'), owner }).second).toEqual([])
  expect(bits(join(base, 'token'))).toBe('600')
})

test('directories get the mode that is wanted, whatever they have or inherit', () => {
  mkdirSync(join(base, 'shared/old'), { recursive: true })
  for (const name of ['shared', 'shared/old']) chmodSync(join(base, name), 0o2775)
  expect(twice('directory-present', { path: `${base}/shared/new`, owner })).toMatchObject({ second: [] })
  expect(twice('directory-present', { path: `${base}/shared/old`, owner })).toEqual({
    first: [`set ${base}/shared/old to 0755 ${owner}`],
    second: [],
  })
  expect(twice('directory-present', { path: `${base}/shared/drop`, mode: '3777', owner }).second).toEqual([])
  expect(['new', 'old', 'drop'].map((name) => bits(join(base, 'shared', name)))).toEqual(['755', '755', '3777'])
})

test('a link is replaced as a whole, even one to a directory', () => {
  mkdirSync(join(base, 'old'))
  symlinkSync('old', join(base, 'link'))
  expect(twice('link-present', { path: `${base}/link`, target: '-n new', replace: true })).toEqual({
    first: [`link ${base}/link -> -n new`],
    second: [],
  })
  expect(readlinkSync(join(base, 'link'))).toBe('-n new')
})

test('what is removed is gone, and what a link leads to is not', () => {
  mkdirSync(join(base, '-rf */deep'), { recursive: true })
  writeFileSync(join(base, '-rf */deep/x'), '')
  symlinkSync('-rf *', join(base, 'link'))
  expect(twice('path-absent', { path: `${base}/link`, recurse: true })).toEqual({
    first: [`remove ${base}/link`],
    second: [],
  })
  expect(lstatSync(join(base, '-rf */deep/x')).isFile()).toBe(true)
  expect(twice('path-absent', { path: `${base}/-rf *`, recurse: true })).toEqual({
    first: [`remove ${base}/-rf * and all in it`],
    second: [],
  })
})

test('a mount point is seen for what it is', () => {
  const state = inspect([{ kind: 'mount', path: '/proc/self' }])
  expect(state.mounts.get('/proc/self')).toMatchObject({ mountPoint: '/proc', fsType: 'proc' })
})

test('a command runs once', () => {
  const step = { argv: ['mkdir', '-p', `${base}/a b/c`], creates: `${base}/a b/c` }
  expect(twice('command', step)).toEqual({ first: [`run mkdir -p ${JSON.stringify(`${base}/a b/c`)}`], second: [] })
  expect(twice('command', { argv: ['touch', `${base}/mark`], unless: ['test', '-e', `${base}/mark`] }).second).toEqual(
    [],
  )
})
