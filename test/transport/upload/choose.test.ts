import { expect, test } from 'vitest'
import { chooseEncoding } from '../../../src/transport/upload/choose.ts'
import type { Encoding, Encodings } from '../../../src/transport/upload/encodings.ts'

const content = { file: '/here', sha256: 'a'.repeat(64), size: 1_000_000 }
const base = { file: '/before', sha256: 'b'.repeat(64), size: 1_000_000 }

/** Sizes that each form comes to; one that is not named cannot be made. */
const encodingsOf = (
  sizes: Partial<Record<Encoding, number>>,
): Encodings & { readonly made: string[]; readonly released: string[] } => {
  const [made, released]: [string[], string[]] = [[], []]
  return {
    made,
    released,
    encode: async ({ encoding }) => {
      made.push(encoding)
      const bytes = sizes[encoding]
      if (bytes === undefined) throw new Error('no room here')
      return { encoding, file: '/made', start: 0, bytes, release: async () => void released.push(encoding) }
    },
    close: async () => undefined,
  }
}

const both = ['zstd', 'gzip']

interface Case {
  readonly sizes: Partial<Record<Encoding, number>>
  readonly programs?: readonly string[]
  readonly from?: number
  readonly hasBase?: boolean
  readonly chosen: Encoding
  readonly made: readonly Encoding[]
}

const cases: Record<string, Case> = {
  'a host with nothing gets it as it is': { sizes: {}, programs: [], chosen: 'raw', made: [] },
  'zstd before gzip': { sizes: { zstd: 500_000, gzip: 400_000 }, chosen: 'zstd', made: ['zstd'] },
  'gzip where there is no zstd': { sizes: { gzip: 500_000 }, programs: ['gzip'], chosen: 'gzip', made: ['gzip'] },
  'what hardly becomes smaller goes as it is': { sizes: { zstd: 950_000 }, chosen: 'raw', made: ['zstd'] },
  'what is left is not worth the turn': { sizes: {}, from: 990_000, chosen: 'raw', made: [] },
  'what cannot be compressed here goes as it is': { sizes: {}, chosen: 'raw', made: ['zstd'] },
  'the difference where that is smaller': {
    sizes: { zstd: 500_000, delta: 50_000 },
    hasBase: true,
    chosen: 'delta',
    made: ['zstd', 'delta'],
  },
  'the whole where that is smaller': {
    sizes: { zstd: 500_000, delta: 500_001 },
    hasBase: true,
    chosen: 'zstd',
    made: ['zstd', 'delta'],
  },
  'a difference of what does not compress': {
    sizes: { zstd: 1_000_100, delta: 900_000 },
    hasBase: true,
    chosen: 'delta',
    made: ['zstd', 'delta'],
  },
  'no difference without zstd': {
    sizes: { gzip: 500_000, delta: 1 },
    programs: ['gzip'],
    hasBase: true,
    chosen: 'gzip',
    made: ['gzip'],
  },
}

test.each(Object.entries(cases))('%s', async (_name, { sizes, programs = both, from = 0, hasBase, chosen, made }) => {
  const encodings = encodingsOf(sizes)
  const choice = { from, programs, base: hasBase === true ? base : null }
  expect(await chooseEncoding(encodings, content, choice)).toMatchObject({ encoding: chosen })
  expect(encodings.made).toEqual(made)
  // All that was made and is not to travel.
  expect(encodings.released).toEqual(made.filter((name) => name !== chosen && sizes[name] !== undefined))
})

test('what goes as it is begins where the host is', async () => {
  expect(await chooseEncoding(encodingsOf({}), content, { from: 400_000, programs: [], base: null })).toMatchObject({
    encoding: 'raw',
    file: '/here',
    start: 400_000,
    bytes: 600_000,
  })
})
