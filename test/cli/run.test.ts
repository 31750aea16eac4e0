import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import type { Host } from '../../src/inventory/host.ts'
import { reportJsonSchema, runReportSchema } from '../../src/report/run-report.ts'
import { createFakeConnection, hold } from '../transport/fake-connection.ts'
import { drover, type Ran, readJson, runsOf, start, type World } from './harness.ts'
import { askedOnce, local } from './local-host.ts'
import { playbook, testTasks } from './test-tasks.ts'

const unreachable = new DroverError({ code: 'connect-timeout', message: 'No answer.', remedy: 'Look at the network.' })

const plainKey = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
}).privateKey

const missing = '{task: file-present, with: {path: /no-such-place/drover-test}}'

const world = (step: string, hosts: World['hosts'] = {}): World => ({
  files: { 'p.yaml': playbook(step), 'hosts.yaml': 'hosts:\n  a: {}\n  b: {}\n  c: {}\n' },
  tasks: testTasks,
  hosts: hosts ?? {},
})

const reportOf = (ran: Ran) => runReportSchema.parse(readJson(runsOf(ran)[0] ?? '', 'report.json'))

test('a run of no changes is one command per host, exits 0 and leaves its record', async () => {
  const hosts = { a: askedOnce(), b: askedOnce() }
  const ran = await drover(
    ['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'a,b', '--reason', 'just  looking'],
    world('{task: as-it-is}', hosts),
  )
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect([...ran.connects].sort()).toEqual(['a', 'b'])
  expect(Object.values(hosts).map(({ calls, isClosed }) => [calls.length, isClosed])).toEqual([
    [1, true],
    [1, true],
  ])
  expect(ran.stdout).toContain('PLAY RECAP')
  expect(ran.stdout).toMatch(/^a +: ok=1 .*failed=0/m)
  expect(ran.stdout).not.toContain('\u001b')
  const [directory = ''] = runsOf(ran)
  expect(ran.stdout).toContain(`reports: ${directory}\n`)
  expect(reportOf(ran)).toMatchObject({
    operator: 'alice@desk',
    reason: 'just looking',
    exitCode: 0,
    drover: '1.2.3',
    hosts: [{ name: 'a' }, { name: 'b' }],
  })
  expect(readJson(directory, 'run.json')).toMatchObject({
    inventory: [{ source: 'hosts.yaml', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  })
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  expect(hosts.a.calls[0]?.run).toBe(reportOf(ran).run)
})

test('one host that cannot be reached is exit 4 and holds up no other', async () => {
  const ran = await drover(
    ['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'a,b'],
    world('{task: as-it-is}', { a: unreachable, b: askedOnce() }),
  )
  expect(ran.code).toBe(4)
  expect(ran.stdout).toContain('unreachable: [a]: No answer. [connect-timeout]\n  fix: Look at the network.')
  expect(ran.stdout).toMatch(/^b +: ok=1 /m)
})

test('a blocked host is exit 2, also beside an unreachable one', async () => {
  const ran = await drover(
    ['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'a,b'],
    world('{task: never-possible}', { a: unreachable, b: askedOnce() }),
  )
  expect(ran.code).toBe(2)
  expect(reportOf(ran).exitReasons).toEqual([2, 4])
})

test.each([
  [['--check'], 0],
  [['--dry-run', '--detailed-exitcode'], 6],
])('a check that finds something to do with %j exits %i and does nothing', async (flags, code) => {
  const host = askedOnce()
  const ran = await drover(
    ['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'a', '-D', ...flags],
    world(missing, { a: host }),
  )
  expect(ran.code).toBe(code)
  expect(ran.stdout).toContain('[CHECK MODE]')
  expect(ran.stdout).toContain('would change: [a]')
  expect(host.calls.map(({ verb }) => verb)).toEqual(['inspect'])
})

test('--output json is the report alone on standard output, true to the published schema', async () => {
  const ran = await drover(
    ['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'a,b', '-C', '--output', 'json'],
    world(missing, { a: askedOnce(), b: unreachable }),
  )
  expect(ran).toMatchObject({ code: 4, stderr: '' })
  const report: unknown = JSON.parse(ran.stdout)
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(reportJsonSchema())
  expect(validate(report), JSON.stringify(validate.errors)).toBe(true)
  expect(report).toEqual(reportOf(ran))
})

test('with -v the lines for people go to standard error when standard output is JSON', async () => {
  const ran = await drover(
    ['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'a', '-v', '-o', 'json'],
    world('{task: as-it-is}', { a: askedOnce() }),
  )
  expect(() => JSON.parse(ran.stdout)).not.toThrow()
  expect(ran.stderr).toContain('PLAY RECAP')
})

test('a secret comes to light nowhere', async () => {
  const secret = 'correct-horse-battery'
  const files = {
    ...world('{task: as-it-is}').files,
    'p.yaml': `${playbook('{task: file-present, with: {path: "/no-such-place/x", content: "${token}"}}')}vars:\n  token: {secret: {env: TOKEN}}\n`,
  }
  const argv = [
    'run',
    './p.yaml',
    '-i',
    'hosts.yaml',
    '-l',
    'a',
    '-CD',
    '-vv',
    '--log-file',
    'log.json',
    '--reason',
    `for ${secret}`,
  ]
  const ran = await drover(argv, { files, tasks: testTasks, hosts: { a: askedOnce() }, env: { TOKEN: secret } })
  expect(ran.code).toBe(0)
  const [directory = ''] = runsOf(ran)
  const written = ['events.ndjson', 'report.json', 'hosts/a.json'].map((name) =>
    readFileSync(join(directory, name), 'utf8'),
  )
  for (const text of [ran.stdout, ran.stderr, readFileSync(join(ran.cwd, 'log.json'), 'utf8'), ...written])
    expect(text).not.toContain(secret)
})

test('the first interrupt lets running hosts end and starts none, and the exit code says so', async () => {
  const held = hold(local)
  const running = start(
    ['run', './p.yaml', '-i', 'hosts.yaml', '-f', '1'],
    world('{task: as-it-is}', { a: createFakeConnection({ inspect: held }) }),
  )
  await held.reached
  running.interrupt()
  expect(running.stderr()).toContain('no host is started any more')
  held.release()
  const ran = await running.ended
  expect(ran).toMatchObject({ code: 130, connects: ['a'], exits: [] })
  expect(reportOf(ran).hosts.map(({ outcome }) => outcome)).toEqual(['unchanged', 'cancelled', 'cancelled'])
})

test('the second interrupt cancels what runs, the third leaves at once', async () => {
  const held = hold(local)
  const running = start(
    ['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'a'],
    world('{task: as-it-is}', { a: createFakeConnection({ inspect: held }) }),
  )
  await held.reached
  running.interrupt()
  running.interrupt()
  running.interrupt()
  const ran = await running.ended
  expect(ran).toMatchObject({ code: 130, exits: [130] })
  expect(reportOf(ran).hosts[0]?.outcome).toBe('cancelled')
})

test('--forks and its alias bound how many hosts are under way', async () => {
  const held = [hold(local), hold(local), hold(local)]
  const [a, b, c] = held.map((inspect) => createFakeConnection({ inspect }))
  const running = start(
    ['run', './p.yaml', '-i', 'hosts.yaml', '--concurrency', '2'],
    world('{task: as-it-is}', { a: a!, b: b!, c: c! }),
  )
  await held[0]?.reached
  await held[1]?.reached
  expect(c?.calls).toEqual([])
  for (const each of held) each.release()
  expect((await running.ended).code).toBe(0)
})

test('-u and --private-key fill in what the inventory leaves open; host keys are checked as the command line says', async () => {
  const seen: Host[] = []
  const tasks = new Map(testTasks)
  const original = tasks.get('as-it-is')!
  tasks.set('as-it-is', {
    ...original,
    facts: (_params, host) => {
      seen.push(host)
      return []
    },
  })
  const files = {
    'p.yaml': playbook('{task: as-it-is}'),
    'hosts.yaml': 'hosts:\n  a: {jump: [j]}\n  b: {user: core, identity_file: key-b}\n  j: {user: hop}\n',
    known: '',
    'key-a': plainKey,
    'key-b': plainKey,
  }
  const argv = [
    'run',
    './p.yaml',
    '-i',
    'hosts.yaml',
    '-l',
    'a,b',
    '-f',
    '1',
    '-u',
    'root',
    '--private-key',
    'key-a',
    '--known-hosts',
    'known',
    '--host-key-policy',
    'off',
    '--transport',
    'openssh',
  ]
  const ran = await drover(argv, { files, tasks, hosts: { a: askedOnce(), b: askedOnce() } })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const reached = { hostKeyPolicy: 'off', transport: 'openssh', knownHostsFiles: [join(ran.cwd, 'known')] }
  const key = (name: string) => ({ identityFiles: [join(ran.cwd, name)] })
  expect(seen[0]).toMatchObject({
    name: 'a',
    user: 'root',
    ...key('key-a'),
    ...reached,
    jump: [{ name: 'j', user: 'hop', ...key('key-a'), ...reached }],
  })
  expect(seen[1]).toMatchObject({ name: 'b', user: 'core', ...key('key-b'), ...reached })
})

test('options for variables stand above -e', async () => {
  const step = '{task: file-present, with: {path: "/${allow_start.1}"}}'
  const argv = [
    'run',
    './p.yaml',
    '-i',
    'hosts.yaml',
    '-l',
    'a',
    '-C',
    '-v',
    '--allow-start',
    'no-such-1',
    '--allow-start',
    'no-such-2',
    '-e',
    'allow_start=[]',
  ]
  const ran = await drover(argv, world(step, { a: askedOnce() }))
  expect(ran.stdout).toContain('/no-such-2')
})

test('no run directory is made for a request that is wrong', async () => {
  const ran = await drover(['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'nobody'], world('{task: as-it-is}'))
  expect(ran.code).toBe(5)
  expect(existsSync(join(ran.cwd, '.drover'))).toBe(false)
})

test('DROVER_INVENTORY stands in for -i, and DROVER_OPERATOR for the user', async () => {
  const ran = await drover(['run', './p.yaml', '-l', 'a'], {
    ...world('{task: as-it-is}', { a: askedOnce() }),
    env: { DROVER_INVENTORY: 'hosts.yaml', DROVER_OPERATOR: 'ci job/7' },
  })
  expect(ran.code).toBe(0)
  expect(reportOf(ran).operator).toBe('ci_job_7')
})
