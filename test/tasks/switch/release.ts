import { createHash } from 'node:crypto'
import type { Binary, Release, Releases } from '../../../src/release/release.ts'

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A binary whose content is this text. */
const binaryOf = (text: string): Binary => ({
  file: `/cache/${text}`,
  sha256: digest(text),
  size: text.length,
})

/** As it is after it has been fetched. */
export const release = (version: string, text: string, more: Partial<Release> = {}): Release => ({
  version,
  hostRootSince: 'v0.3.0',
  sources: { amd64: { file: `/cache/${text}`, sha256: digest(text) } },
  binaries: { amd64: binaryOf(text) },
  ...more,
})

/** Takes each source for the binary itself. */
export const fakeReleases: Releases = {
  fetch: async (wanted) => ({
    ...wanted,
    binaries: Object.fromEntries(
      Object.entries(wanted.sources).map(([architecture, { file = '', sha256 }]) => [
        architecture,
        { file, sha256, size: 1000 },
      ]),
    ),
  }),
}
