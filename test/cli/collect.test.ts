import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import { type Answer, answer, createFakeConnection, cut, ends, hold } from '../transport/fake-connection.ts'
import { drover, type Ran, start } from './harness.ts'

const files = { 'hosts.yaml': 'hosts:\n  a: {}\n  b: {}\n  sudo: {user: admin, become: true}\n' }
const token = 'abcdef.0123456789abcdef'
const unreachable = new DroverError({ code: 'connect-timeout', message: 'No answer.', remedy: 'Look at the network.' })

/** Answers as the script does: each part that it is asked for says the same. */
const says = (text: string, { uid = 0 } = {}): Answer => ({
  give: (call, request) => {
    const asked: string[] = []
    for (let at = 1; at < call.args.length; at += 5 + Number(call.args[at + 4])) asked.push(call.args[at] ?? '')
    const read = asked.map((file) => `\x1eP ${file}\nread ${Buffer.from(text).toString('base64')} 0\n`)
    return answer(`uid ${uid}\n${read.join('')}\x1eP end\n`).give(call, request)
  },
})
/** Begins that part, and does not come to its end before the deadline. */
const stopsIn = (file: string): Answer => ({
  give: async ({ token: frame }, request) => {
    request.onStdout?.(Buffer.from(`\x1eB ${frame}\nuid 0\n\x1eP ${file}\nread aG`))
    throw new DroverError({ code: 'command-timeout', message: 'm', remedy: 'r' })
  },
})
const host = (...answers: readonly Answer[]) => createFakeConnection({ collect: answers })
const collect = (words: readonly string[], world: Parameters<typeof drover>[1]): Promise<Ran> =>
  drover(['collect', '-i', 'hosts.yaml', ...words], { files, ...world })

const bundleIn = (...path: readonly string[]): string => gunzipSync(readFileSync(join(...path))).toString('latin1')

test('one command per host, one archive each, in a new directory that only its owner may enter', async () => {
  const a = host(says(`line one\nsaid ${token}\n`))
  const ran = await collect(['-l', 'a,b'], { hosts: { a, b: host(says('other\n')) } })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(a.calls).toHaveLength(1)
  expect(a.calls[0]).toMatchObject({ verb: 'collect', run: expect.stringMatching(/^collect-[0-9a-f]{4}$/) })
  expect(a.isClosed).toBe(true)
  const directory = join(ran.cwd, '.drover/collect/2026-01-02T03-04-05Z')
  expect(readdirSync(directory).sort()).toEqual(['a.tar.gz', 'b.tar.gz'])
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  expect(statSync(join(directory, 'a.tar.gz')).mode & 0o777).toBe(0o600)
  const inside = bundleIn(directory, 'a.tar.gz')
  expect(inside).toContain('a/index.txt')
  expect(inside).toContain('line one\nsaid [redacted]\n')
  expect(inside).not.toContain(token)
  expect(ran.stdout).toMatch(
    /^a: \.drover\/collect\/2026-01-02T03-04-05Z\/a\.tar\.gz \(\d+ KiB, \d+ files, \d+ redacted\)$/m,
  )
  expect(ran.stdout).toMatch(/^2 hosts: 2 bundles in /m)
  expect(ran.stdout).toMatch(/^bundles: \.drover\/collect\/2026-01-02T03-04-05Z$/m)
})

test('a host that cannot be reached hides no other, and has its code and remedy', async () => {
  const ran = await collect(['-l', 'a,b'], { hosts: { a: host(says('x\n')), b: unreachable } })
  expect(ran.code).toBe(4)
  expect(ran.stdout).toContain('b: No answer. [connect-timeout]\n  fix: Look at the network.')
  expect(ran.stdout).toMatch(/^2 hosts: 1 bundle in /m)
})

test('-o json lists the bundles, in one shape for all', async () => {
  const ran = await collect(['-l', 'a,b', '-o', 'json'], {
    hosts: { a: host(says('x\n', { uid: 7 })), b: unreachable },
  })
  const { bundles, directory, schemaVersion } = JSON.parse(ran.stdout) as {
    schemaVersion: number
    directory: string
    bundles: { file: string; bytes: number; parts: unknown[] }[]
  }
  expect(schemaVersion).toBe(1)
  expect(bundles).toMatchObject([
    { host: 'a', file: join(directory, 'a.tar.gz'), withoutRoot: true, hidden: 0, error: null },
    { host: 'b', file: null, bytes: null, parts: null, error: { code: 'connect-timeout' } },
  ])
  expect(Object.keys(bundles[0] ?? {})).toEqual(Object.keys(bundles[1] ?? {}))
  expect(bundles[0]?.parts).toContainEqual({
    file: 'units/cat.txt',
    about: 'texts of the units, with their drop-ins',
    bytes: 2,
    note: null,
    isMissing: false,
    hidden: 0,
  })
  expect(lstatSync(bundles[0]?.file ?? '').size).toBe(bundles[0]?.bytes)
})

test.each([
  ['without root where it is wanted', ends(1, 'sudo: a password is required\n'), 'become-failed', 2],
  ['with an answer that is none', answer('nonsense'), 'inspect-failed', 2],
  ['whose script ended badly', answer('', { code: 2, stderr: 'sh: no\n' }), 'inspect-failed', 2],
  ['that comes to a stand', stopsIn('layout/files.txt'), 'inspect-stalled', 2],
])('a host %s has no bundle, and no directory is left for it', async (_name, given, code, exit) => {
  const ran = await collect(['-l', 'sudo', '-o', 'json'], { hosts: { sudo: host(given) } })
  const { bundles } = JSON.parse(ran.stdout) as { bundles: { error: { code: string; remedy: string } }[] }
  expect(bundles[0]?.error).toMatchObject({ code: expect.stringMatching(code), remedy: expect.stringMatching(/./) })
  expect(ran.code).toBe(exit)
  expect(readdirSync(join(ran.cwd, '.drover/collect'))).toEqual([])
})

test('a lost connection is made anew, and the host is read once more', async () => {
  const a = host(cut('uid 0\n'), says('x\n'))
  const ran = await collect(['-l', 'a'], { hosts: { a } })
  expect([ran.code, a.calls.length]).toEqual([0, 2])
})

test('no bundle is overwritten: that is refused before any host is touched', async () => {
  const given = { ...files, 'out/a.tar.gz': 'precious' }
  const ran = await collect(['-l', 'a,b', '--out', 'out'], { files: given, hosts: {} })
  expect(ran).toMatchObject({ code: 5, connects: [] })
  expect(ran.stderr).toContain('[usage]')
  expect(readFileSync(join(ran.cwd, 'out/a.tar.gz'), 'utf8')).toBe('precious')
  // What is there beside them is no reason to refuse.
  const beside = await collect(['-l', 'b', '--out', 'out'], { files: given, hosts: { b: host(says('x\n')) } })
  expect(beside.code).toBe(0)
  expect(readdirSync(join(beside.cwd, 'out')).sort()).toEqual(['a.tar.gz', 'b.tar.gz'])
})

test.each([
  [['--since', '2 days']],
  [['--since', '0s']],
  [['--out', 'hosts.yaml/x']],
  [['-l', 'nobody']],
  [['-o', 'table']],
])('a wrong request touches nothing: %j', async (words) => {
  expect(await collect(words, {})).toMatchObject({ code: 5, connects: [], stdout: '' })
})

test('--since goes to the journals', async () => {
  const a = host(says('x\n'))
  await collect(['-l', 'a', '--since', '90m'], { hosts: { a } })
  expect(a.calls[0]?.args).toContain('--since=-5400s')
})

test('-v says what is missing from each', async () => {
  const ran = await collect(['-l', 'a', '-v'], { hosts: { a: host(says('')) } })
  expect(ran.stdout).toMatch(/^ {4}journal\/agent\.log: nothing was said$/m)
})

test('an interrupt lets the host under way end and begins no other', async () => {
  const held = hold(says('x\n'))
  const running = start(['collect', '-i', 'hosts.yaml', '-l', 'a,b', '-f', '1'], { files, hosts: { a: host(held) } })
  await held.reached
  running.interrupt()
  held.release()
  const ran = await running.ended
  expect(ran.code).toBe(130)
  expect(ran.stdout).toMatch(/^a: .*a\.tar\.gz/m)
  expect(ran.stdout).toMatch(/^b: Interrupted before .*\[cancelled\]$/m)
})
