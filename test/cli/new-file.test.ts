import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { cannotWrite } from '../../src/cli/collect-directory.ts'
import { writeNewFile } from '../../src/cli/new-file.ts'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-new-file-'))
  const made = directory
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
})

const failing = (code: string) => async (): Promise<void> => {
  throw Object.assign(new Error(`${code}: link`), { code })
}
const bytes = Buffer.from('bundle')

test.each([
  ['EPERM', failing('EPERM')],
  ['EOPNOTSUPP', failing('EOPNOTSUPP')],
  ['ENOSYS', failing('ENOSYS')],
  ['no error', undefined],
])('where a link gives %s the file is whole, its owner alone reads it, and nothing lies beside it', async (_, link) => {
  const file = join(directory, 'a')
  await writeNewFile(file, bytes, link)
  expect(readFileSync(file, 'utf8')).toBe('bundle')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(directory)).toEqual(['a'])
})

test.each([
  ['EPERM', failing('EPERM')],
  ['no error', undefined],
])('where a link gives %s what is there stays', async (_, link) => {
  const file = join(directory, 'a')
  writeFileSync(file, 'precious')
  await expect(writeNewFile(file, bytes, link)).rejects.toMatchObject({ code: 'EEXIST' })
  expect(readFileSync(file, 'utf8')).toBe('precious')
  expect(readdirSync(directory)).toEqual(['a'])
})

test('without room nothing is left', async () => {
  await expect(writeNewFile(join(directory, 'a'), bytes, failing('ENOSPC'))).rejects.toMatchObject({ code: 'ENOSPC' })
  expect(existsSync(join(directory, 'a'))).toBe(false)
  expect(readdirSync(directory)).toEqual([])
})

test.each([
  ['ENOSPC', /^Make room/],
  ['EDQUOT', /^Make room/],
  ['EROFS', /where you may write;/],
  ['EACCES', /where you may write;/],
  ['ENOENT', /has gone/],
  ['EIO', /^Name another directory/],
])('the remedy for %s fits it', (code, remedy) => {
  const thrown = Object.assign(new Error(`${code}: x`), { code })
  expect(cannotWrite('/x/a.tar.gz', thrown)).toMatchObject({
    remedy: expect.stringMatching(remedy),
    detail: `${code}: x`,
  })
})
