import { expect, test } from 'vitest'
import { refusal } from '../../../src/transport/upload/refusal.ts'

const upload = { path: '/opt/agent', content: { file: '/here', sha256: 'a'.repeat(64), size: 1 }, isProgram: true }

test.each([
  [75, 'run r2', 'locked', /\/opt\/agent: run r2/],
  [91, 'denied', 'upload-failed', /could not be written/],
  [91, 'cannot create: No space left on device', 'no-space', /no inode is left/],
  [91, 'sync: Disk quota exceeded', 'no-space', /no inode is left/],
  [94, '/opt', 'precondition-unmet', /write to \/opt, so .*\/opt\/agent/],
  [96, '', 'no-space', /What had arrived was removed/],
  [127, 'No space left on device', 'upload-failed', /exit code 127/],
])('exit code %i with "%s" is %s', (code, words, expected, says) => {
  expect(refusal(upload, code, words)).toMatchObject({ code: expected, message: expect.stringMatching(says) })
})
