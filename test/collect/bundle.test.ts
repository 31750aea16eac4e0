import { text as textOf } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { extract } from 'tar-stream'
import { expect, test } from 'vitest'
import { archiveOf } from '../../src/collect/archive.ts'
import { bundleOf } from '../../src/collect/bundle.ts'
import type { PartAnswer } from '../../src/collect/part.ts'
import { partsOf } from '../../src/collect/parts.ts'
import { createRedactor } from '../../src/report/redact.ts'

const parts = partsOf(5400)
const known = 'a-known-secret-of-this-run'
const redact = createRedactor([known], () => undefined)
const info = { host: 'node7', collected: new Date('2026-01-02T03:04:05Z'), version: '1.2.3', sinceS: 5400 }

const answers = (said: Readonly<Record<string, PartAnswer>>): ReadonlyMap<string, PartAnswer> =>
  new Map(parts.map(({ file }) => [file, said[file] ?? { kind: 'read', bytes: Buffer.from('ordinary\n'), code: 0 }]))
const says = (text: string, code = 0): PartAnswer => ({ kind: 'read', bytes: Buffer.from(text), code })

test('a secret planted in any part is in no file of the bundle', () => {
  const token = 'abcdef.0123456789abcdef'
  fc.assert(
    fc.property(
      fc.constantFrom(...parts),
      fc.constantFrom(known, token, Buffer.from(known).toString('base64'), `"clientSecret": "${token}"`),
      fc.constantFrom(0, 66, 124),
      ({ file }, secret, code) => {
        const said = answers({ [file]: says(`before ${secret} after\n`, code) })
        const { files, parts: told } = bundleOf(parts, { isRoot: true, parts: said }, { info, redact })
        const all = JSON.stringify([files, told])
        for (const form of [known, token, Buffer.from(known).toString('base64').replace(/=+$/, '')])
          expect(all).not.toContain(form)
        expect(all).toContain('before')
      },
    ),
  )
})

test('the index says what each file is, what is missing and why, and that it was redacted', () => {
  const said = answers({
    'state/daemon-state.json': says('not there\n', 66),
    'journal/agent.log': says(`t1 ${known}\nt0 token=x\n`),
    'layout/files.txt': { kind: 'skipped' },
  })
  const { files, hidden, parts: told } = bundleOf(parts, { isRoot: false, parts: said }, { info, redact })
  expect(hidden).toBe(2)
  expect(files.map(({ file }) => file)).not.toContain('state/daemon-state.json')
  expect(told.filter(({ isMissing }) => isMissing).map(({ file }) => file)).toEqual([
    'layout/files.txt',
    'state/daemon-state.json',
  ])
  const index = files[0]?.text ?? ''
  expect(files[0]?.file).toBe('index.txt')
  for (const line of [
    /^Collected from node7 by drover 1\.2\.3 at 2026-01-02T03:04:05\.000Z\.$/m,
    /Journals go back 90 min, .*WITHOUT ROOT/,
    /^REDACTED\./m,
    /^ {2}journal\/agent\.log +\d+ bytes {2}journal of the agent \[2 hidden\]$/m,
    /^ {2}state\/daemon-state\.json +which side is active: not there$/m,
    /^ {2}layout\/files\.txt .*: the time for this host was up before it$/m,
  ])
    expect(index).toMatch(line)
  expect(files.find(({ file }) => file === 'journal/agent.log')?.text).toBe('t0 token=[redacted]\nt1 [secret]\n')
})

test('the archive holds them below one directory, 0600', async () => {
  const files = [
    { file: 'index.txt', text: 'index\n' },
    { file: 'a/b.txt', text: 'é\n'.repeat(1000) },
  ]
  const reader = extract()
  reader.end(gunzipSync(await archiveOf('node7', files, info.collected)))
  const read: unknown[] = []
  for await (const entry of reader) {
    const { name, mode, mtime, type } = entry.header
    read.push([name, mode, mtime?.toISOString(), type, await textOf(entry)])
  }
  expect(read).toEqual(
    files.map(({ file, text }) => [`node7/${file}`, 0o600, info.collected.toISOString(), 'file', text]),
  )
})
