import { expect, test } from 'vitest'
import { printableText } from '../../src/printable.ts'
import { Secret } from '../../src/secret.ts'
import type { ScriptRequest } from '../../src/transport/script/run-script.ts'
import { runScript } from '../../src/transport/script/run-script.ts'
import { answer, createFakeConnection, cut, ends, lost, pieces } from './fake-connection.ts'
import { fakeHost } from './fake-host.ts'

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

const deploy = { ...fakeHost(), name: 'h1', user: 'deploy' }

/** What was said by the sudo and doas of Debian 12 and 13 and by sudo-rs 0.2, and by login shells. */
test.each([
  ['sudo: a password is required\n', 1, 'sudo on h1 wants a password of deploy, and none was given.'],
  [
    'sudo-rs: interactive authentication is required\n',
    1,
    'sudo on h1 wants a password of deploy, and none was given.',
  ],
  [
    "Sorry, user deploy is not allowed to execute '/bin/sh -c : drover' as root on h.\n",
    1,
    'sudo on h1 does not allow deploy to run /bin/sh as root.',
  ],
  ['deploy is not in the sudoers file.\n', 1, 'sudo on h1 has no rule that lets deploy become root.'],
  ['Sorry, user deploy may not run sudo on h.\n', 1, 'sudo on h1 has no rule that lets deploy become root.'],
  [
    "sudo-rs: I'm sorry deploy. I'm afraid I can't do that\n",
    1,
    'sudo on h1 has no rule that lets deploy become root.',
  ],
  ["env: 'sudo': No such file or directory\n", 127, 'There is no sudo on h1, or not in the PATH of deploy.'],
  [
    "env: can't execute 'sudo': No such file or directory\n",
    127,
    'There is no sudo on h1, or not in the PATH of deploy.',
  ],
  [
    'sudo: account validation failure, is your account locked?\nsudo: a password is required\n',
    1,
    'sudo on h1 does not let deploy in: the account or its password has expired, or is locked.',
  ],
  ['sudo: 1 incorrect password attempt\n', 1, 'sudo on h1 refused the password of deploy.'],
  [
    'sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set\n',
    1,
    'sudo on h1 has no root rights itself: it is not setuid root there, or may not be.',
  ],
  [
    'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.\nsudo: If sudo is running in a container, you may need to adjust it.\n',
    1,
    'sudo on h1 has no root rights itself: it is not setuid root there, or may not be.',
  ],
  [
    'sudo: /etc/sudoers is world writable\nsudo: error initializing audit plugin sudoers_audit\n',
    1,
    'sudo on h1 cannot start because of its own configuration or log.',
  ],
  ['sudo: you do not exist in the passwd database\n', 1, 'sudo on h1 does not find deploy among the users.'],
  [
    'sudo: something new\nsudo: unable to resolve host h1: Name or service not known\n',
    1,
    'sudo on h1 gives no root rights: sudo: something new',
  ],
  ['sudo: \x1b[2Jno\n', 1, 'sudo on h1 gives no root rights: sudo: \\x1b[2Jno'],
])('sudo that says %j', async (stderr, code, message) => {
  const fake = createFakeConnection({ probe: ends(code, stderr) }, deploy)
  const failure = runScript(fake.connection, request({ become: { method: 'sudo' } }))
  await expect(failure).rejects.toMatchObject({ code: 'become-failed', message, detail: printableText(stderr).trim() })
})

test.each([
  ['doas: Authentication required\n', 'doas on h1 wants a password of deploy.'],
  ['doas: Operation not permitted\n', 'doas on h1 has no rule that lets deploy become root, or cannot read its rules.'],
  [
    'doas: doas is not enabled, /etc/doas.conf: No such file or directory\n',
    'doas on h1 has no rule that lets deploy become root, or cannot read its rules.',
  ],
  ["env: 'doas': No such file or directory\n", 'There is no doas on h1, or not in the PATH of deploy.'],
])('doas that says %j', async (stderr, message) => {
  const fake = createFakeConnection({ probe: ends(1, stderr) }, deploy)
  const failure = runScript(fake.connection, request({ become: { method: 'doas' } }))
  await expect(failure).rejects.toMatchObject({ code: 'become-failed', message })
})

test.each([
  ['This account is currently not available.\n', 1, 'h1 is closed to deploy: the login shell is nologin.'],
  [
    'rbash: line 1: exec: restricted\n',
    1,
    "h1 lets deploy run no command of drover's: the login shell is a restricted one.",
  ],
  ['This service allows sftp connections only.\n', 1, 'h1 lets deploy in for sftp alone.'],
  [
    'fish: Unknown command: exec\n',
    127,
    "The login shell of deploy on h1 did not run drover's command: it ended with exit status 127, saying: fish: Unknown command: exec",
  ],
  ['', 1, "The login shell of deploy on h1 did not run drover's command: it ended with exit status 1 without a word"],
])('a login shell that says %j is the cause, with and without sudo', async (stderr, code, message) => {
  for (const become of [null, { method: 'sudo' }] as const) {
    const fake = createFakeConnection({ probe: ends(code, stderr) }, deploy)
    await expect(runScript(fake.connection, request({ become }))).rejects.toMatchObject({
      code: 'channel-failed',
      message,
    })
  }
})

test('a script that arrived damaged was not run', async () => {
  const fake = createFakeConnection({ probe: ends(93, 'drover: the script arrived cut or damaged\n') })
  await expect(runScript(fake.connection, request())).rejects.toMatchObject({ code: 'channel-failed' })
})

test('of endless noise the end is shown', async () => {
  const noise = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join('\n')
  const fake = createFakeConnection({ probe: ends(1, noise) }, deploy)
  await expect(runScript(fake.connection, request())).rejects.toMatchObject({
    message: expect.stringContaining('saying: line 4999'),
    detail: expect.stringMatching(/^line 4980\n(.*\n)*line 4999$/),
  })
})

test('a password is given to the sudo that asks for it, and the script and its payload come after', async () => {
  const fake = createFakeConnection({ probe: answer('out') })
  const become = { method: 'sudo', password: new Secret('Pa55') } as const
  const { stdout } = await runScript(fake.connection, request({ payload: Buffer.from('data'), become }))
  expect(stdout.toString()).toBe('out')
  expect(fake.calls).toMatchObject([{ become: true, password: 'Pa55', payload: Buffer.from('data'), terminal: false }])
})

test('an answer without its end is a lost connection, and so is a lost connection', async () => {
  const fake = createFakeConnection({ probe: [cut('half'), lost()] })
  await expect(runScript(fake.connection, request())).rejects.toMatchObject({
    code: 'connection-lost',
    message: expect.stringContaining('SIGKILL'),
  })
  await expect(runScript(fake.connection, request())).rejects.toMatchObject({ code: 'connection-lost' })
})
