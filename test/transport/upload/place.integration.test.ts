import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'

/** The change itself, with what steps.sh gives it, in the container of the test. */

const source = ['transport/upload/fit', 'changes/apply/steps', 'changes/apply/place']
  .map((name) => readFileSync(new URL(`../../../src/${name}.sh`, import.meta.url), 'utf8'))
  .join('')
const bytes = 'an agent'
const sha256 = createHash('sha256').update(bytes).digest('hex')
const nobody = 65_534

let host: string
let victim: string
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-place-'))
  host = join(folder, 'host')
  victim = join(folder, 'victim')
  mkdirSync(join(host, 'lib'), { recursive: true })
  writeFileSync(victim, 'secret', { mode: 0o600 })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

const staged = (directory: string): string => {
  const file = join(directory, `.drover-${sha256}`)
  writeFileSync(file, bytes, { mode: 0o600 })
  return file
}

/** `meanwhile`: shell functions in the place of programs, which do what somebody else might do at that moment. */
const run = (call: string, meanwhile = '') => {
  const script = `${source}\nset -u; umask 022; run=r1 temp=0 moved= victim=$1\nlabel() { :; }\n${meanwhile}\nshift\n${call}`
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script, 'sh', victim, join(host, 'lib/agent')], {
    encoding: 'utf8',
  })
  return { status, words: stdout + stderr }
}
const placed = `place "$1" 4755 ${nobody}:0 ${sha256}`

const expectUnharmed = (): void => {
  const { mode, uid } = statSync(victim)
  expect([mode & 0o7777, uid, readFileSync(victim, 'utf8')]).toEqual([0o600, 0, 'secret'])
}

test.each(['lib', '.'])('what waits in %s gets to its place with all that belongs to it', (where) => {
  staged(join(host, where))
  expect(run(placed)).toEqual({ status: 0, words: '' })
  const { mode, uid } = statSync(join(host, 'lib/agent'))
  expect([mode & 0o7777, uid]).toEqual([0o4755, nobody])
  expect([...readdirSync(host), ...readdirSync(join(host, 'lib'))]).toEqual(['lib', 'agent'])
})

test.each([
  ['somebody else owns', 0o755, nobody],
  ['all may write to', 0o1777, 0],
  ['a group may write to', 0o775, 0],
])('what lies in a directory that %s is not taken', (_what, mode, owner) => {
  staged(join(host, 'lib'))
  chmodSync(join(host, 'lib'), mode)
  chownSync(join(host, 'lib'), owner, 0)
  expect(run(placed)).toMatchObject({ status: 1, words: expect.stringContaining('is not there any more') })
  expect(readdirSync(join(host, 'lib'))).toEqual([`.drover-${sha256}`])
})

test('into a directory of somebody else it comes from one that is not', () => {
  staged(host)
  chownSync(join(host, 'lib'), nobody, 0)
  expect(run(placed)).toEqual({ status: 0, words: '' })
  expect(readFileSync(join(host, 'lib/agent'), 'utf8')).toBe(bytes)
})

test.each(['chown', 'chmod'])('a link that is put in its place before %s leads nowhere', (program) => {
  staged(join(host, 'lib'))
  const meanwhile = `${program}() { ln -sf "$victim" "$staged"; command ${program} "$@"; }`
  expect(run(placed, meanwhile)).toMatchObject({ status: 1, words: expect.stringContaining('another file') })
  expectUnharmed()
  expect(readdirSync(join(host, 'lib'))).not.toContain('agent')
})

test('nor does it count as put in place what is exchanged just then', () => {
  staged(join(host, 'lib'))
  const meanwhile = 'mv() { command mv "$@"; ln -sf "$victim" "$4"; }'
  expect(run(placed, meanwhile)).toMatchObject({ status: 1, words: expect.stringContaining('another file') })
  expectUnharmed()
})

const copied = `copy_file ${'"$victim"'} ${createHash('sha256').update('secret').digest('hex')} "$1" 755 0:0`

test('a copy is whole and its modes are as before', () => {
  expect(run(`${copied}; echo "$?"; umask; echo x >"$1.x"; echo y >"$1.x"`)).toEqual({ status: 0, words: '0\n0022\n' })
  expect(readFileSync(join(host, 'lib/agent'), 'utf8')).toBe('secret')
  expect(statSync(join(host, 'lib/agent')).mode & 0o7777).toBe(0o755)
})

test('a link in the place of a copy that is made leads nowhere', () => {
  const meanwhile = 'chmod() { ln -sf "$victim" "$t"; command chmod "$@"; }'
  expect(run(copied, meanwhile)).toMatchObject({ status: 1, words: expect.stringContaining('another file') })
  expectUnharmed()
  expect(readdirSync(join(host, 'lib'))).toEqual([])
})
