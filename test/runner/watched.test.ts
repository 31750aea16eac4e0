import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StallWatch } from '../../src/runner/stall.ts'
import { openingPlace, sectionReader, stagePlace, watched } from '../../src/runner/watched.ts'
import { runScript } from '../../src/transport/script/run-script.ts'
import { createFakeConnection, pieces } from '../transport/fake-connection.ts'

const logging = (): StallWatch & { readonly log: string[] } => {
  const log: string[] = []
  return {
    log,
    at: (where, excusedMs) => log.push(excusedMs ? `at ${where} ${excusedMs}` : `at ${where}`),
    opening: (where) => log.push(`opening ${where}`),
    heard: () => log.push('heard'),
    rest: () => log.push('rest'),
  }
}

const exec = async (verb: string, output: readonly string[]): Promise<string[]> => {
  const fake = createFakeConnection({ [verb]: pieces(output) })
  const watch = logging()
  const seen: string[] = []
  await runScript(
    watched(fake.connection, watch, () => verb),
    {
      run: 'r1',
      verb,
      script: 'main() {\n  :\n}\n\nmain "$@"\n',
      args: [],
      become: null,
      deadlineMs: 1000,
      maxBytes: 10_000,
      onStdout: (chunk) => seen.push(Buffer.from(chunk).toString()),
    },
  )
  expect(seen.join('')).toBe(output.join(''))
  return watch.log
}

test('of an inspect each section is a place, by its mark alone', async () => {
  expect(await exec('inspect', ['\x1eS os\nid 1\n\x1eS paths\nabc', 'def\n', '\x1eS end\n'])).toEqual([
    'heard', // the script began
    'heard',
    'at inspect section paths',
    'heard',
    'heard',
    'at inspect section end',
    'heard', // it ended
  ])
})

test('of an apply every piece of output is a sign of life, and none a section', async () => {
  expect(await exec('apply', ['\x1eS os\n', 'words\n'])).toEqual(['heard', 'heard', 'heard', 'heard'])
})

test('a mark is found however it is cut, and the last one counts', () => {
  const text = `noise\x1eS os\n${'x'.repeat(100)}\n\x1eS paths\n\x1eS commands\ncode 0\n`
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 200 }), (sizes) => {
      const read = sectionReader()
      const names: string[] = []
      for (let at = 0, turn = 0; at < text.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1
        const name = read(Buffer.from(text.slice(at, at + size)))
        if (name !== null) names.push(name)
        at += size
      }
      expect(names.at(-1)).toBe('commands')
      expect(new Set(names).size).toBe(names.length)
    }),
  )
})

test('every stage has words of its own', () => {
  const stages = ['waiting', 'resolve', 'connect', 'handshake', 'authenticate'] as const
  expect(new Set(stages.map(stagePlace)).size).toBe(stages.length)
})

test('what stands before a script is named by how it is run', () => {
  expect(openingPlace('inspect', null)).toBe('the login shell, before inspect began')
  expect(openingPlace('apply', { method: 'sudo' })).toBe('the login shell or sudo, before apply began')
})
