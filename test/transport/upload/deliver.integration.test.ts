import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
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
import type { Content, Upload } from '../../../src/transport/upload/content.ts'
import { type Delivered, deliver, type Means } from '../../../src/transport/upload/deliver.ts'
import { probe } from '../../../src/transport/upload/probe.ts'
import { createUploads } from '../../../src/transport/upload/uploads.ts'
import { type LocalFarSide, localFarSide } from './local-far-side.ts'

const never = new AbortController().signal
const random = randomBytes(3_000_000)
const text = Buffer.from('to be, or not to be: '.repeat(150_000))

let folder: string
let means: Means
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-deliver-'))
  mkdirSync(join(folder, 'host'))
  const uploads = createUploads({ forks: 1, directory: folder, baseOf: async () => null })
  means = { ...uploads, signal: never }
  const made = folder
  onTestFinished(async () => {
    await uploads.close()
    rmSync(made, { recursive: true, force: true })
  })
})

const contentOf = (bytes: Buffer): Content => {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file = join(folder, 'content')
  writeFileSync(file, bytes)
  return { file, sha256, size: bytes.length }
}

const uploadOf = (bytes: Buffer, path = join(folder, 'host', 'agent')): Upload => ({
  path,
  content: contentOf(bytes),
  isProgram: false,
})

const stage = async (far: LocalFarSide, upload: Upload, by: Means = means): Promise<Delivered> => {
  const probed = await probe(far, [upload], { withBase: () => false, signal: never })
  return deliver(far, upload, { probed, means: by })
}

const onHost = (): string[] => readdirSync(join(folder, 'host')).sort()
const stagedAt = ({ content }: Upload): string => join(folder, 'host', `.drover-${content.sha256}`)

test('a file is staged under its digest, for nobody else to read, and nothing is left beside it', async () => {
  const upload = uploadOf(random)
  const far = localFarSide()
  expect(await stage(far, upload)).toEqual({ sent: random.length, how: 'whole' })
  expect(onHost()).toEqual([`.drover-${upload.content.sha256}`])
  expect(readFileSync(stagedAt(upload)).equals(random)).toBe(true)
  expect(statSync(stagedAt(upload)).mode & 0o7777).toBe(0o600)
  expect(far.verbs).toEqual(['probe', 'raw'])
})

test('it waits in the nearest directory that is there', async () => {
  const upload = uploadOf(random, join(folder, 'host', 'to', 'be', 'made'))
  await stage(localFarSide(), upload)
  expect(onHost()).toEqual([`.drover-${upload.content.sha256}`])
})

test('what compresses well is sent so, and comes out the same', async () => {
  const upload = uploadOf(text)
  const { sent } = await stage(localFarSide(), upload)
  expect(sent).toBeLessThan(text.length / 20)
  expect(readFileSync(stagedAt(upload)).equals(text)).toBe(true)
})

test('an empty file is a file', async () => {
  const upload = uploadOf(Buffer.alloc(0))
  expect(await stage(localFarSide(), upload)).toEqual({ sent: 0, how: 'whole' })
  expect(readFileSync(stagedAt(upload))).toHaveLength(0)
})

test('what is staged already is not sent again', async () => {
  const upload = uploadOf(random)
  await stage(localFarSide(), upload)
  const far = localFarSide()
  expect(await stage(far, upload)).toMatchObject({ sent: 0 })
  expect(far.verbs).toEqual(['probe'])
})

test('a connection that breaks is made anew, and hardly anything is sent twice', async () => {
  const upload = uploadOf(random)
  const far = localFarSide({ cutAfter: 1_800_000 })
  const { sent, how } = await stage(far, upload)
  expect(how).toBe('resumed')
  expect(far.reconnects).toHaveLength(1)
  expect(far.verbs).toEqual(['probe', 'raw', 'probe', 'raw'])
  expect(sent).toBeGreaterThanOrEqual(random.length)
  expect(sent).toBeLessThanOrEqual(random.length * 1.05)
  expect(readFileSync(stagedAt(upload)).equals(random)).toBe(true)
  expect(onHost()).toHaveLength(1)
})

test('what another run left of it is gone on with', async () => {
  const upload = uploadOf(random)
  writeFileSync(`${stagedAt(upload)}.part`, random.subarray(0, 2_000_000), { mode: 0o600 })
  expect(await stage(localFarSide(), upload)).toEqual({ sent: 1_000_000, how: 'resumed' })
  expect(readFileSync(stagedAt(upload)).equals(random)).toBe(true)
})

test.each([
  ['is not its beginning', Buffer.alloc(2_000_000)],
  ['is longer than it', Buffer.alloc(4_000_000)],
])('what was left and %s is no hindrance', async (_what, left) => {
  const upload = uploadOf(random)
  writeFileSync(`${stagedAt(upload)}.part`, left, { mode: 0o600 })
  await stage(localFarSide(), upload)
  expect(readFileSync(stagedAt(upload)).equals(random)).toBe(true)
})

test('a link in the place of what was left is not followed', async () => {
  const upload = uploadOf(random)
  writeFileSync(join(folder, 'other'), 'kept')
  symlinkSync('../other', `${stagedAt(upload)}.part`)
  await stage(localFarSide(), upload)
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('kept')
  expect(readFileSync(stagedAt(upload)).equals(random)).toBe(true)
})

test('what is damaged on its way again and again is not staged', async () => {
  const upload = uploadOf(random)
  const far = localFarSide({
    damage: (piece) =>
      piece.length < 15_000 ? piece : Buffer.concat([piece.subarray(0, -1), Buffer.from([piece.at(-1)! ^ 1])]),
  })
  await expect(stage(far, upload)).rejects.toMatchObject({
    code: 'upload-failed',
    message: expect.stringContaining('is not the file'),
  })
  expect(onHost()).toEqual([])
})

test('a file that is cut here while it is sent is not staged', async () => {
  const upload = uploadOf(random)
  writeFileSync(upload.content.file, random.subarray(0, 1_000_000))
  await expect(stage(localFarSide(), upload)).rejects.toMatchObject({ code: 'upload-failed' })
  expect(onHost()).not.toContain(`.drover-${upload.content.sha256}`)
})

test('two runs at once: one is refused and says by whom, and what the other brings is whole', async () => {
  const upload = uploadOf(random)
  const begun = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<void>()
  // The first has sent something, and goes on when the second has been turned away.
  const far = localFarSide({
    damage: (piece) => {
      if (piece.length > 15_000) begun.resolve()
      return piece
    },
  })
  let portions = 0
  const take = async (): Promise<void> => {
    portions += 1
    if (portions > 5) await refused.promise
  }
  const waiting = { portion: 65_536, bytesPerS: 1e9, take }
  const first = stage(far, upload, { ...means, rate: waiting })
  await begun.promise
  await expect(stage(localFarSide({}, 'r2'), upload)).rejects.toMatchObject({
    code: 'locked',
    message: expect.stringContaining('run r1'),
  })
  refused.resolve()
  await first
  expect(readFileSync(stagedAt(upload)).equals(random)).toBe(true)
})

const nobody = 65_534

test.each([
  ['all may write to, sticky or not', '.', 0o1777, 0],
  ['a group may write to', '.', 0o775, 0],
  ['somebody else owns', '.', 0o755, nobody],
  ['lies in one that all may write to', 'lib', 0o777, 0],
  ['lies in one that somebody else owns', 'lib', 0o755, nobody],
])('a directory that %s holds nothing staged: one further up does', async (_what, below, mode, owner) => {
  const upload = uploadOf(random, join(folder, 'host', below, 'agent'))
  chmodSync(join(folder, 'host'), mode)
  chownSync(join(folder, 'host'), owner, 0)
  mkdirSync(join(folder, 'host', 'lib'))
  await stage(localFarSide(), upload)
  expect(onHost()).toEqual(['lib'])
  expect(readdirSync(join(folder, 'host', 'lib'))).toEqual([])
  expect(readFileSync(join(folder, `.drover-${upload.content.sha256}`)).equals(random)).toBe(true)
})

test("what is root's in a sticky directory of root's is as good as any", async () => {
  const upload = uploadOf(random, join(folder, 'host', 'lib', 'agent'))
  chmodSync(join(folder, 'host'), 0o1777)
  mkdirSync(join(folder, 'host', 'lib'))
  await stage(localFarSide(), upload)
  expect(readdirSync(join(folder, 'host', 'lib'))).toEqual([`.drover-${upload.content.sha256}`])
})

test('where there is none in the file system, nothing is sent, and the directory is named with its owner', async () => {
  // A file system of its own, whose uppermost directory all may write to.
  const given = mkdtempSync('/dev/shm/given-')
  onTestFinished(() => rmSync(given, { recursive: true }))
  chownSync(given, nobody, 0)
  const upload = uploadOf(random, join(given, 'agent'))
  const far = localFarSide()
  await expect(stage(far, upload)).rejects.toMatchObject({
    code: 'precondition-unmet',
    message: expect.stringContaining(`${given} (owner nobody, mode 700)`),
  })
  expect(far.verbs).toEqual(['probe'])
  expect([...readdirSync(given), ...onHost()]).toEqual([])
})

test('a directory that is given away after it was looked at takes nothing in', async () => {
  const upload = uploadOf(random)
  const far = localFarSide()
  const probed = await probe(far, [upload], { withBase: () => false, signal: never })
  chmodSync(join(folder, 'host'), 0o777)
  await expect(deliver(far, upload, { probed, means })).rejects.toMatchObject({
    code: 'precondition-unmet',
    message: expect.stringContaining(join(folder, 'host')),
  })
  expect(onHost()).toEqual([])
})

test('who is not root stages in what is his own', async () => {
  const upload = uploadOf(random)
  chmodSync(folder, 0o755)
  chownSync(join(folder, 'host'), nobody, 0)
  const far = localFarSide({ uid: nobody })
  await stage(far, upload)
  expect(statSync(stagedAt(upload)).uid).toBe(nobody)
})
