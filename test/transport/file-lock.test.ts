import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withFileLock } from '../../src/transport/host-keys/file-lock.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-lock-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

test('one holder at a time, and the lock is gone afterwards, also after a failure', async () => {
  const path = join(directory, 'one')
  let holders = 0
  const work = async () => {
    holders += 1
    expect(holders).toBe(1)
    await new Promise(setImmediate)
    holders -= 1
  }
  await Promise.all(Array.from({ length: 10 }, () => withFileLock(path, work)))
  await expect(withFileLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(existsSync(path)).toBe(false)
})

test('a lock that a dead process left long ago is taken', async () => {
  const path = join(directory, 'old')
  writeFileSync(path, '')
  utimesSync(path, new Date(0), new Date(0))
  expect(await withFileLock(path, async () => 'done')).toBe('done')
})
