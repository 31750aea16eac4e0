import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createScratch } from '../../../src/transport/upload/scratch.ts'

const hourS = 3600
const nowS = Date.now() / 1000

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-scratch-'))
  const made = directory
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
})

/** Last written to so many hours ago. */
const folder = (name: string, hours: number): void => {
  const path = join(directory, name)
  mkdirSync(path)
  writeFileSync(join(path, 'whole-zstd'), 'x')
  utimesSync(path, nowS - hours * hourS, nowS - hours * hourS)
}

test('folders of runs that were killed are removed, and nothing else', async () => {
  folder('drover-upload-old', 25)
  folder('drover-upload-young', 23)
  folder('other', 1000)
  folder('target', 1000)
  symlinkSync('target', join(directory, 'drover-upload-link'))
  writeFileSync(join(directory, 'drover-upload-file'), 'x')
  utimesSync(join(directory, 'drover-upload-file'), 0, 0)
  await createScratch(directory).close()
  expect(readdirSync(directory).sort()).toEqual([
    'drover-upload-file',
    'drover-upload-link',
    'drover-upload-young',
    'other',
    'target',
  ])
  expect(readdirSync(join(directory, 'target'))).toEqual(['whole-zstd'])
})

test('one is made when it is needed, for nobody else to read, and goes with its files', async () => {
  const scratch = createScratch(directory)
  expect(readdirSync(directory)).toEqual([])
  const [one, other] = await Promise.all([scratch.path('one'), scratch.path('other')])
  expect(dirname(one)).toBe(dirname(other))
  expect((await stat(dirname(one))).mode & 0o777).toBe(0o700)
  writeFileSync(one, 'x')
  await scratch.close()
  expect(readdirSync(directory)).toEqual([])
})

test('one that is in use never looks old', async () => {
  const scratch = createScratch(directory)
  const made = dirname(await scratch.path('one'))
  utimesSync(made, nowS - 30 * hourS, nowS - 30 * hourS)
  await scratch.path('other')
  await createScratch(directory).close()
  expect(readdirSync(directory)).toHaveLength(1)
  await scratch.close()
})

test('a directory that nothing can be made in is told of where something is to be made', async () => {
  const missing = join(directory, 'missing')
  const scratch = createScratch(missing)
  await expect(scratch.path('one')).rejects.toThrow('ENOENT')
  await scratch.close()
})
