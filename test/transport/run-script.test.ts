import { expect, test } from 'vitest'
import type { ScriptRequest } from '../../src/transport/run-script.ts'
import { runScript } from '../../src/transport/run-script.ts'
import { answer, createFakeConnection, cut, ends, lost, pieces } from './fake-connection.ts'

const request = (over: Partial<ScriptRequest> = {}): ScriptRequest => ({
  run: 'r1',
  verb: 'probe',
  script: 'main() { cat; }\nmain "$@"\n',
  args: ['one', "it's"],
  become: null,
  deadlineMs: 1000,
  maxBytes: 1000,
  ...over,
})

test('the answer is what the script wrote, without frame and noise', async () => {
  const fake = createFakeConnection({ probe: answer('out', { code: 4, stderr: 'err' }) })
  const { code, stdout, stderr } = await runScript(fake.connection, request())
  expect([code, stdout.toString(), stderr.toString()]).toEqual([4, 'out', 'err'])
  expect(fake.calls).toMatchObject([
    { run: 'r1', verb: 'probe', args: ['one', "it's"], form: 'argument', payload: null },
  ])
})

test('a payload travels on standard input and every exec has a token of its own', async () => {
  const fake = createFakeConnection({ probe: [answer(''), answer('')] })
  await runScript(fake.connection, request({ payload: Buffer.from('data'), become: { method: 'sudo' } }))
  await runScript(fake.connection, request())
  expect(fake.calls[0]).toMatchObject({ become: true, form: 'stdin', payload: Buffer.from('data') })
  expect(fake.calls[0]?.token).not.toBe(fake.calls[1]?.token)
})

test('pieces of output are handed on as they arrive', async () => {
  const fake = createFakeConnection({ probe: pieces(['a', 'b\x1e', 'c']) })
  const seen: string[] = []
  await runScript(fake.connection, request({ onStdout: (chunk) => seen.push(Buffer.from(chunk).toString()) }))
  expect(seen).toEqual(['a', 'b', '\x1ec'])
})

test.each([
  ['sudo: a password is required\n', 1, 'become-failed'],
  ['Sorry, user deploy is not allowed to execute /bin/sh as root on h.\n', 1, 'become-failed'],
  ['deploy is not in the sudoers file.\n', 1, 'become-failed'],
  ['sh: 1: exec: sudo: not found\n', 127, 'become-failed'],
  ['drover: the script arrived cut or damaged\n', 93, 'channel-failed'],
  ['', 1, 'channel-failed'],
])('%j with exit %i before the script begins is %s', async (stderr, code, errorCode) => {
  const fake = createFakeConnection({ probe: ends(code, stderr) })
  const failure = runScript(fake.connection, request({ become: { method: 'sudo' } }))
  await expect(failure).rejects.toMatchObject({ code: errorCode })
  if (stderr !== '') await expect(failure).rejects.toMatchObject({ detail: stderr.trim() })
})

test('without sudo a command that never began is the login shell, whatever it says', async () => {
  const fake = createFakeConnection({ probe: ends(1, 'This account is currently not available.\n') })
  await expect(runScript(fake.connection, request())).rejects.toMatchObject({ code: 'channel-failed' })
})

test("sudo's words are made harmless for the terminal", async () => {
  const fake = createFakeConnection({ probe: ends(1, 'sudo: \x1b[2Jno\n') })
  await expect(runScript(fake.connection, request({ become: { method: 'sudo' } }))).rejects.toMatchObject({
    message: 'sudo gives no root rights: sudo: \\x1b[2Jno',
  })
})

test('an answer without its end is a lost connection, and so is a lost connection', async () => {
  const fake = createFakeConnection({ probe: [cut('half'), lost()] })
  await expect(runScript(fake.connection, request())).rejects.toMatchObject({
    code: 'connection-lost',
    message: expect.stringContaining('SIGKILL'),
  })
  await expect(runScript(fake.connection, request())).rejects.toMatchObject({ code: 'connection-lost' })
})
