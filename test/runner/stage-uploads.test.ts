import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { runLane } from '../../src/runner/lane.ts'
import type { Run } from '../../src/runner/run.ts'
import { Secret } from '../../src/secret.ts'
import { planned } from '../../src/tasks/task.ts'
import { createUploads } from '../../src/transport/upload/uploads.ts'
import type { RecordedHost } from '../facts/answers.ts'
import type { DecodedCommand as Call } from '../transport/decode-command.ts'
import { type Answer, answer, createFakeConnection, hold, lost } from '../transport/fake-connection.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'
import { applies, aRun, aTask, facts, host1, only, play, results, tasksOf } from './world.ts'

const bytes = Buffer.from('an agent\n'.repeat(1000))
const sha256 = createHash('sha256').update(bytes).digest('hex')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-stage-'))
  writeFileSync(join(folder, 'agent'), bytes)
  const made = folder
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
})

const uploadTo = (path: string, more: Partial<Extract<Change, { kind: 'upload' }>> = {}): Change => ({
  kind: 'upload',
  path,
  artifact: { file: join(folder, 'agent'), sha256, size: bytes.length },
  mode: 0o755,
  owner: 'root:root',
  ...more,
})

const agentTask = (...paths: readonly string[]) =>
  aTask(
    'agent',
    paths.map((path) => ({ kind: 'path', path, sha256: true })),
    (view) => planned(paths.filter((path) => view.sha256(path) !== sha256).map((path) => uploadTo(path))),
  )

/** What the host says of one file. */
const file = ({ state = 'none', have = 0, freeBlocks = 10_000, options = 'rw', directory = '/opt' } = {}): string =>
  `file ${state} ${have} 4096 ${freeBlocks} 100 100 7 ${options} no ${Buffer.from(directory).toString('base64')}\n`

const probed = (...files: readonly string[]): Answer => answer(`programs gzip\n${files.join('')}`)
const received = answer('.')

const there = (...paths: readonly string[]): RecordedHost => ({
  paths: Object.fromEntries(paths.map((path) => [path, { file: bytes.toString(), sha256 }])),
})

type Script = Answer | readonly Answer[] | ((call: Call) => Answer)

interface Case {
  readonly scripts: Readonly<Record<string, Script>>
  readonly more?: Partial<Run>
  readonly paths?: readonly string[]
  readonly leftovers?: readonly string[]
}

const ran = async ({ scripts, more = {}, paths = ['/opt/agent'], leftovers = [] }: Case) => {
  const tasks = tasksOf(agentTask(...paths))
  const of = play(host1, 'agent')
  const verify = facts(tasks, of, there(...paths), '')
  const fake = createFakeConnection(
    { inspect: facts(tasks, of, { leftovers }), ...('apply' in scripts && { verify }), ...scripts },
    host1,
  )
  const uploads = createUploads({ forks: 2, directory: folder, baseOf: async () => null })
  const run = aRun(tasks, createFakeTransport({ 'host-1': fake }), { uploads, ...more })
  const outcome = await runLane(run, of)
  await uploads.close()
  const sent = fake.calls.filter(({ verb }) => verb === 'upload')
  return { outcome, run, sent, error: only(run.events, 'host-ended')[0]?.error, uploaded: only(run.events, 'uploaded') }
}

test('a host that has the file is asked nothing more', async () => {
  const tasks = tasksOf(agentTask('/opt/agent'))
  const of = play(host1, 'agent')
  const fake = createFakeConnection({ inspect: facts(tasks, of, there('/opt/agent')) }, host1)
  expect(await runLane(aRun(tasks, createFakeTransport({ 'host-1': fake })), of)).toBe('unchanged')
})

test('a file is looked for, sent and told of before the changes begin', async () => {
  const { outcome, run, sent, uploaded } = await ran({
    scripts: { upload: [probed(file()), received], apply: applies },
  })
  expect(outcome).toBe('changed')
  expect(sent.map(({ args }) => args)).toEqual([
    ['/opt/agent', sha256, '', ''],
    ['/opt', sha256, '9000', '0', 'raw', '9000', '16384', 'r1'],
  ])
  expect(sent[1]?.payload?.equals(bytes)).toBe(true)
  expect(uploaded).toMatchObject([{ host: 'host-1', path: '/opt/agent', bytes: 9000, sent: 9000, how: 'whole' }])
  expect(only(run.events, 'exec').map(({ verb }) => verb)).toEqual(['inspect', 'upload', 'upload', 'apply', 'verify'])
})

test('with a password for sudo it is the same', async () => {
  const become = { method: 'sudo', password: new Secret('pass') } as const
  const { outcome, sent } = await ran({
    scripts: { upload: [probed(file()), received], apply: applies },
    more: { becomeOf: () => become },
  })
  expect(outcome).toBe('changed')
  expect(sent[1]).toMatchObject({ become: true, password: 'pass' })
  expect(sent[1]?.payload?.equals(bytes)).toBe(true)
})

test('all files of a segment are looked for together', async () => {
  const paths = ['/opt/agent', '/srv/agent']
  const both = probed(file(), file({ directory: '/srv' }))
  const { outcome, sent } = await ran({ scripts: { upload: [both, received, received], apply: applies }, paths })
  expect(outcome).toBe('changed')
  expect(sent.map(({ args }) => args[0])).toEqual(['/opt/agent', '/opt', '/srv'])
})

test('what an earlier run has staged is not sent', async () => {
  const { outcome, uploaded } = await ran({ scripts: { upload: probed(file({ state: 'whole' })), apply: applies } })
  expect(outcome).toBe('changed')
  expect(uploaded).toMatchObject([{ sent: 0 }])
})

test('a loss is made good from where the host is', async () => {
  const half = probed(file({ have: 4000 }))
  const { outcome, sent, uploaded, run } = await ran({
    scripts: { upload: [probed(file()), lost(), half, received], apply: applies },
  })
  expect(outcome).toBe('changed')
  expect(sent[3]?.args.slice(3, 6)).toEqual(['4000', 'raw', '5000'])
  expect(sent[3]?.payload?.equals(bytes.subarray(4000))).toBe(true)
  expect(uploaded).toMatchObject([{ how: 'resumed' }])
  expect(only(run.events, 'host-reconnected')).toHaveLength(1)
})

test('a connection that breaks each time before anything arrives is given up in the end', async () => {
  const tries = Array.from({ length: 11 }, () => [probed(file()), lost()]).flat()
  const { outcome, error } = await ran({ scripts: { upload: tries } })
  expect([outcome, error?.code]).toEqual(['unreachable', 'connection-lost'])
})

test.each<[what: string, upload: readonly Answer[], code: string, outcome: string]>([
  ['no room', [probed(file({ freeBlocks: 1 }))], 'no-space', 'failed'],
  ['a read-only disk', [probed(file({ options: 'ro,relatime' }))], 'precondition-unmet', 'failed'],
  ['nothing may be run there', [probed(file({ options: 'rw,noexec' }))], 'precondition-unmet', 'failed'],
  ['a full disk', [probed(file()), answer('', { code: 96 })], 'no-space', 'failed'],
  ['no permission', [probed(file()), answer('', { code: 91, stderr: 'denied\n' })], 'upload-failed', 'failed'],
  ['somebody else', [probed(file()), answer('', { code: 75, stderr: 'run r9\n' })], 'locked', 'blocked'],
  ['another content', [probed(file()), answer('', { code: 93 })], 'upload-failed', 'failed'],
  ['half an answer', [answer('programs\n')], 'upload-failed', 'failed'],
])('%s: the step fails, and nothing of it has been begun', async (_what, upload, code, outcome) => {
  const end = await ran({ scripts: { upload } })
  expect([end.outcome, end.error?.code, end.error?.step]).toEqual([outcome, code, 'agent'])
  expect(end.error?.remedy).not.toBe('')
  expect(results(end.run.events)).toEqual({ agent: outcome })
  expect(end.uploaded).toEqual([])
})

test('what was there of it and is not the file gives way to the whole', async () => {
  const { outcome, sent } = await ran({
    scripts: {
      upload: [probed(file({ have: 4000 })), answer('.', { code: 93 }), probed(file({ have: 4000 })), received],
      apply: applies,
    },
  })
  expect(outcome).toBe('changed')
  expect(sent.map(({ args }) => args[3])).toEqual(['', '4000', '', '0'])
})

test('a directory of somebody else is refused before anything is sent, whatever is to come there', async () => {
  const [directory, whose] = ['/opt', 'ops, mode 775'].map((text) => Buffer.from(text).toString('base64'))
  const unfit = `file unfit 0 0 0 0 0 - - no ${directory} ${whose}\n`
  const { outcome, error, sent } = await ran({
    scripts: { upload: probed(unfit, unfit) },
    paths: ['/opt/agent', '/opt/other'],
  })
  expect([outcome, error?.code]).toEqual(['failed', 'precondition-unmet'])
  expect(error?.message).toContain('/opt (owner ops, mode 775)')
  expect(sent).toHaveLength(1)
})

test('the first Ctrl-C ends it, and no change is begun', async () => {
  const stop = new AbortController()
  const held = hold(received)
  const running = ran({ scripts: { upload: [probed(file()), held] }, more: { softStop: stop.signal } })
  await held.reached
  stop.abort()
  const { outcome, error } = await running
  expect([outcome, error?.code]).toEqual(['cancelled', 'cancelled'])
  expect(error?.message).toContain('no change was begun')
})

test('one file into one directory twice is a fault of the task', async () => {
  const faults: unknown[] = []
  const { error } = await ran({
    scripts: { upload: probed(file(), file()) },
    paths: ['/opt/agent', '/opt/other'],
    more: { onFault: (_host, thrown) => faults.push(thrown) },
  })
  expect(error?.code).toBe('internal')
  expect(String(faults[0])).toContain('uploaded twice')
})

describe('what uploads left', () => {
  const other = `/opt/.drover-${'0'.repeat(64)}.part`
  const own = `/opt/.drover-${sha256}.part`

  test('goes, unless this run wants it', async () => {
    const { run } = await ran({
      scripts: { upload: [probed(file({ have: 4000 })), received], apply: applies },
      leftovers: [other, own],
    })
    const changes = only(run.events, 'change-done').map(({ summary }) => summary)
    expect(changes).toEqual([`remove ${other}`, expect.stringContaining('upload /opt/agent')])
  })
})
