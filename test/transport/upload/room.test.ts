import { expect, test } from 'vitest'
import type { Upload } from '../../../src/transport/upload/content.ts'
import type { Place } from '../../../src/transport/upload/probe.ts'
import { refusalOf } from '../../../src/transport/upload/room.ts'

const mb = 1_000_000

const upload = (path: string, size: number, isProgram = true): Upload => ({
  path,
  content: { file: '/here', sha256: 'a'.repeat(64), size },
  isProgram,
})

const place = (more: Partial<Place> = {}): Place => ({
  directory: '/opt',
  isStaged: false,
  have: 0,
  freeBytes: 100 * mb,
  freeInodes: 10,
  device: '1',
  options: ['rw', 'relatime'],
  hasBase: false,
  ...more,
})

const refused = (...wanted: readonly [Upload, Place][]): string | undefined => {
  const refusal = refusalOf(wanted.map(([upload, place]) => ({ upload, place })))
  return refusal === null ? undefined : `${refusal.upload.path} ${refusal.error.code}: ${refusal.error.message}`
}

const agent = upload('/opt/agent', 60 * mb)

test.each<[what: string, wanted: readonly [Upload, Place][]]>([
  ['there is room', [[agent, place()]]],
  ['what is there already needs none', [[agent, place({ freeBytes: 12 * mb, have: 50 * mb, freeInodes: 0 })]]],
  ['all of it is there', [[agent, place({ isStaged: true, freeBytes: 0, options: ['ro'] })]]],
  ['nothing is to be run', [[upload('/opt/data', mb, false), place({ options: ['rw', 'noexec'] })]]],
  ['the file system counts no inodes', [[agent, place({ freeInodes: null })]]],
  [
    'each has a disk of its own',
    [
      [agent, place()],
      [upload('/srv/agent', 60 * mb), place({ device: '2' })],
    ],
  ],
])('%s: nothing is said', (_what, wanted) => {
  expect(refused(...wanted)).toBeUndefined()
})

test.each<[what: string, wanted: readonly [Upload, Place][], says: RegExp]>([
  ['no room', [[agent, place({ freeBytes: 60 * mb })]], /^\/opt\/agent no-space: .*\/opt has 60\.0 MB free/],
  [
    'no room for both',
    [
      [agent, place()],
      [upload('/opt/b', 60 * mb), place()],
    ],
    /no-space: .*\/opt\/agent, \/opt\/b/,
  ],
  ['no inode', [[agent, place({ freeInodes: 0 })]], /no-space: .*0 inodes free/],
  ['read-only', [[agent, place({ options: ['ro'] })]], /precondition-unmet: .*mounted read-only/],
  [
    'a directory of somebody else',
    [[agent, place({ directory: '/opt', unfit: 'ops, mode 775', freeBytes: 0 })]],
    /^\/opt\/agent precondition-unmet: .*\/opt \(owner ops, mode 775\)/,
  ],
  ['noexec', [[agent, place({ options: ['rw', 'noexec'] })]], /precondition-unmet: .*mounted noexec/],
])('%s', (_what, wanted, says) => {
  expect(refused(...wanted)).toMatch(says)
})
