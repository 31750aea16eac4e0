import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Connection, Stdin } from '../../src/transport/connection.ts'
import { type Upload, uploadFile } from '../../src/transport/upload.ts'
import { answer, createFakeConnection } from './fake-connection.ts'
import { fakeHost } from './fake-host.ts'
import { runLocally } from './local-shell.ts'

// More than one piece of a channel, and no text.
const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 251))
const sha256 = createHash('sha256').update(bytes).digest('hex')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-upload-'))
  const made = folder
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
})

const upload = (over: Partial<Upload> = {}): Upload => ({
  source: { bytes },
  path: join(folder, 'target'),
  mode: '0750',
  sha256,
  run: 'r1',
  become: null,
  deadlineMs: 10_000,
  ...over,
})

/** A host that is this machine, for a script that only touches the folder of the test. `damage`: what happens on the way. */
const localConnection = (damage: (stdin: Buffer) => Buffer = (stdin) => stdin): Connection => ({
  host: fakeHost(),
  serverVersion: 'SSH-2.0-Local',
  exec: async ({ command, stdin = [] }) => {
    const arrived = damage(await whole(stdin))
    return { ...(await runLocally({ command, stdin: arrived })), signal: null }
  },
  close: async () => undefined,
})

const whole = async (stdin: Stdin): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const part of stdin instanceof Uint8Array ? [stdin] : stdin) parts.push(part)
  return Buffer.concat(parts)
}

const entries = (): string[] => readdirSync(folder).sort()

test('a file is published whole, with its mode, and nothing is left beside it', async () => {
  await uploadFile(localConnection(), upload())
  expect(readFileSync(join(folder, 'target')).equals(bytes)).toBe(true)
  expect(statSync(join(folder, 'target')).mode & 0o7777).toBe(0o750)
  expect(entries()).toEqual(['target'])
})

test('it may come from a file, which is read piece by piece', async () => {
  writeFileSync(join(folder, 'source'), bytes)
  await uploadFile(localConnection(), upload({ source: { file: join(folder, 'source'), size: bytes.length } }))
  expect(readFileSync(join(folder, 'target')).equals(bytes)).toBe(true)
})

test('an empty file is a file', async () => {
  const empty = createHash('sha256').digest('hex')
  await uploadFile(localConnection(), upload({ source: { bytes: Buffer.alloc(0) }, sha256: empty }))
  expect(readFileSync(join(folder, 'target'))).toHaveLength(0)
})

test('what was there before is replaced, a link itself and not what it leads to', async () => {
  writeFileSync(join(folder, 'other'), 'kept')
  symlinkSync('other', join(folder, 'target'))
  await uploadFile(localConnection(), upload())
  expect(lstatSync(join(folder, 'target')).isFile()).toBe(true)
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('kept')
})

test('the owner can be named by number', async () => {
  const owner = `${process.getuid?.()}:${process.getgid?.()}`
  await uploadFile(localConnection(), upload({ owner }))
  expect(entries()).toEqual(['target'])
})

const refusals = [
  { what: 'cut on its way', damage: (stdin: Buffer) => stdin.subarray(0, -1), words: 'another length' },
  {
    what: 'damaged on its way',
    damage: (stdin: Buffer) => Buffer.concat([stdin.subarray(0, -1), Buffer.from([stdin.at(-1)! ^ 1])]),
    words: 'another content',
  },
] as const
test.each(refusals)('content that was $what replaces nothing', async ({ damage, words }) => {
  writeFileSync(join(folder, 'target'), 'before')
  await expect(uploadFile(localConnection(damage), upload())).rejects.toMatchObject({
    code: 'change-failed',
    message: expect.stringContaining(words),
  })
  expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('before')
  expect(entries()).toEqual(['target'])
})

test('a directory that is not there is said to be so in the words of the host', async () => {
  await expect(
    uploadFile(localConnection(), upload({ path: join(folder, 'missing', 'target') })),
  ).rejects.toMatchObject({ code: 'change-failed', detail: expect.stringContaining('No such file') })
})

test('a directory in the place of the file stays, and no staged file does', async () => {
  mkdirSync(join(folder, 'target'))
  await expect(uploadFile(localConnection(), upload())).rejects.toMatchObject({
    message: expect.stringContaining('could not be put in its place'),
  })
  expect(entries()).toEqual(['target'])
  expect(existsSync(join(folder, 'target', 'target'))).toBe(false)
})

test('an owner who does not exist publishes nothing', async () => {
  await expect(uploadFile(localConnection(), upload({ owner: 'no-such-user:no-such-group' }))).rejects.toThrow()
  expect(entries()).toEqual([])
})

test('the bytes go to every host as they are, not as copies', async () => {
  const seen: Stdin[] = []
  const local = localConnection()
  const connection: Connection = {
    ...local,
    exec: (request) => {
      seen.push(request.stdin ?? [])
      return local.exec(request)
    },
  }
  await uploadFile(connection, upload())
  expect((seen[0] as readonly Uint8Array[])[1]).toBe(bytes)
})

test('with root rights it is one exec that the logs of the host can name', async () => {
  const fake = createFakeConnection({ upload: answer('') })
  await uploadFile(fake.connection, upload({ become: { method: 'sudo' }, owner: 'root:root' }))
  expect(fake.calls).toMatchObject([{ run: 'r1', verb: 'upload', become: true, form: 'stdin' }])
  expect(fake.calls[0]?.payload?.equals(bytes)).toBe(true)
  expect(fake.calls[0]?.args).toEqual([join(folder, 'target'), '0750', 'root:root', '300000', sha256])
})
