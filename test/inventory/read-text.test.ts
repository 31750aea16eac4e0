import { describe, expect, it } from 'vitest'
import { readText } from '../../src/inventory/read-text.ts'

const failing = (code: string) => () => {
  throw Object.assign(new Error('no'), { code })
}

describe('readText', () => {
  it.each([
    ['ENOENT', 'There is no such file.'],
    ['EISDIR', 'This is a directory.'],
    ['EACCES', 'The file may not be read.'],
    ['EIO', 'The file cannot be read (EIO).'],
  ])('%s', (code, message) => {
    expect(readText('/x', 'x', failing(code))).toMatchObject({ missing: true, fault: { file: 'x', message } })
  })

  it('decodes UTF-8 and drops a byte order mark', () => {
    expect(readText('/x', 'x', () => Buffer.from('\ufeffü'))).toEqual({ text: 'ü' })
  })

  it('says where a file stops being UTF-8', () => {
    const bytes = Buffer.from([0x61, 0x0a, 0xc3, 0xbc, 0xff])
    expect(readText('/x', 'x', () => bytes)).toMatchObject({ missing: false, fault: { line: 2, column: 2 } })
  })
})
