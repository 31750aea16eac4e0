import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { BinarySource } from '../../src/release/release.ts'
import {
  agent,
  agentName,
  archive,
  directory,
  type Member,
  program,
  release,
  sha256,
  tar,
  type Workstation,
  workstation,
} from './made.ts'

const arm = program({ machine: 183, type: 3 })

describe('a release that is in order', () => {
  test('is one binary of each architecture, checked and in the cache', async () => {
    const here = workstation()
    const packed = await archive({ name: 'aks-flex-node-linux-arm64', content: arm, mode: 0o755 })
    const asked = {
      version: 'v1.2.3',
      sources: { amd64: here.file(agent), arm64: here.file(packed, { binarySha256: sha256(arm) }) },
    }
    const { binaries, ...rest } = await here.fetch(asked)
    expect(rest).toEqual(asked)
    expect(binaries).toEqual({
      amd64: { file: join(here.cache, sha256(agent)), sha256: sha256(agent), size: agent.length },
      arm64: { file: join(here.cache, sha256(arm)), sha256: sha256(arm), size: arm.length },
    })
    expect(readFileSync(binaries?.arm64?.file ?? '').equals(arm)).toBe(true)
    expect(statSync(binaries?.arm64?.file ?? '').mode & 0o777).toBe(0o700)
    expect(statSync(here.cache).mode & 0o777).toBe(0o700)
    expect(readdirSync(here.cache).sort()).toEqual([sha256(agent), sha256(arm), sha256(packed)].sort())
    expect(here.told).toContain(`agent v1.2.3 for amd64: ${agent.length} bytes from ${asked.sources.amd64.file}`)
    expect(here.told).toContain(`agent v1.2.3 for arm64: the binary has ${arm.length} bytes, sha256 ${sha256(arm)}`)
  })
  test('may be larger than one read, and be packed by a tar that writes extended headers', async () => {
    const here = workstation()
    const large = program({}, 'x'.repeat(3_000_000))
    const packed = await archive({ content: large, pax: { mtime: '1.5', comment: 'of a tar' } })
    const { binaries } = await here.fetch(release(here.file(packed)))
    expect(binaries?.amd64).toMatchObject({ sha256: sha256(large), size: large.length })
  })
  test('is a copy that does not change when the file does', async () => {
    const here = workstation()
    const source = here.file(agent)
    const { binaries } = await here.fetch(release(source))
    writeFileSync(join(here.cwd, source.file ?? ''), 'another')
    expect(readFileSync(binaries?.amd64?.file ?? '').equals(agent)).toBe(true)
  })
  test('tidies up what a killed drover left a day ago, and leaves the rest', async () => {
    const here = workstation()
    mkdirSync(here.cache, { recursive: true, mode: 0o755 })
    const part = (digit: string): string => join(here.cache, `.${digit.repeat(8)}-1111-4111-8111-111111111111.part`)
    for (const file of [part('a'), part('b'), join(here.cache, 'notes')]) writeFileSync(file, '')
    for (const file of [part('a'), join(here.cache, 'notes')]) utimesSync(file, 0, 0)
    await here.fetch(release(here.file(agent)))
    expect([part('a'), part('b'), join(here.cache, 'notes')].map(existsSync)).toEqual([false, true, true])
    expect(statSync(here.cache).mode & 0o777).toBe(0o700)
  })
})

type Made = (here: Workstation) => Promise<BinarySource> | BinarySource

const packed =
  (...members: readonly Member[]): Made =>
  async (here) =>
    here.file(await archive(...members))

const zipped =
  (change: (tarred: Buffer) => Buffer): Made =>
  async (here) =>
    here.file(change(await tar({ content: agent })))

const none = '0'.repeat(64)
const small = 100_000
/** Compresses to nothing, as an archive made to fill a disk does. */
const zeros = Buffer.alloc(small + 1)

const refusals: Readonly<Record<string, readonly [Made, string, string?]>> = {
  'another digest': [(here) => here.file(agent, { sha256: none }), 'it has not the sha256 that is asked for.'],
  'another digest of the binary': [
    (here) => here.file(agent, { binarySha256: none }),
    'the binary has not the sha256 that is asked for.',
  ],
  'another digest of the binary in an archive': [
    async (here) => here.file(await archive({ content: agent }), { binarySha256: none }),
    'the binary has not the sha256 that is asked for.',
  ],
  'an empty file': [(here) => here.file(Buffer.alloc(0)), 'it is empty, not a program for amd64.'],
  'another architecture': [(here) => here.file(arm), 'it is a program for arm64, not a program for amd64.'],
  'another architecture in an archive': [
    packed({ content: arm }),
    'it is a program for arm64, not a program for amd64.',
  ],
  'a script': [(here) => here.file(Buffer.from('#!/bin/sh\n')), 'it is a script, not a program for amd64.'],
  'an HTML page': [(here) => here.file(Buffer.from('<!doctype html>')), 'it is an HTML page, not a program for amd64.'],
  'a Windows program in an archive': [
    packed({ content: Buffer.from('MZ\x90') }),
    'it is a Windows program, not a program for amd64.',
  ],
  'a tar that is not compressed': [
    async (here) => here.file(await tar({ content: agent })),
    'it is a tar archive that is not compressed, not a program for amd64.',
  ],
  'an archive in an archive': [
    async (here) => here.file(await archive({ content: await archive({ content: agent }) })),
    'it is a gzip archive, not a program for amd64.',
  ],
  'two members': [packed({ content: agent }, { name: 'LICENSE' }), 'the archive also holds "LICENSE".'],
  'the same member twice': [
    packed({ content: agent }, { content: program({}, 'other') }),
    `the archive also holds "${agentName}".`,
  ],
  'a second member behind the end': [
    zipped((tarred) => gzipSync(Buffer.concat([tarred, tarred]))),
    `the archive also holds "${agentName}".`,
  ],
  'no member': [packed(), `the archive holds no ${agentName}: it is empty.`],
  'another name': [
    packed({ name: 'aks-flex-node-linux-arm64', content: arm }),
    `the archive holds "aks-flex-node-linux-arm64" and not just ${agentName}.`,
  ],
  'a path that leads out': [
    packed({ name: `../${agentName}`, content: agent }),
    `the archive holds "../${agentName}" and not just ${agentName}.`,
  ],
  'an absolute path': [
    packed({ name: `/${agentName}`, content: agent }),
    `the archive holds "/${agentName}" and not just ${agentName}.`,
  ],
  'a path': [
    packed({ name: `./${agentName}`, content: agent }),
    `the archive holds "./${agentName}" and not just ${agentName}.`,
  ],
  'a name that drives terminals': [
    packed({ name: '\u001b[2J\n', content: agent }),
    `the archive holds "\\x1b[2J\\n" and not just ${agentName}.`,
  ],
  'a symbolic link': [
    packed({ type: 'symlink', linkname: '/etc/shadow' }),
    `the archive holds ${agentName} as a symlink, not as a file.`,
  ],
  'a hard link': [
    packed({ type: 'link', linkname: agentName }),
    `the archive holds ${agentName} as a link, not as a file.`,
  ],
  'a directory': [packed({ type: 'directory' }), `the archive holds ${agentName} as a directory, not as a file.`],
  'a device': [
    packed({ type: 'character-device', devmajor: 1, devminor: 3 }),
    `the archive holds ${agentName} as a character-device, not as a file.`,
  ],
  'an archive cut in its compression': [
    zipped((tarred) => gzipSync(tarred).subarray(0, -20)),
    'the archive is cut off: it ends in the middle.',
  ],
  'an archive cut before its checksum': [
    zipped((tarred) => gzipSync(tarred).subarray(0, -8)),
    'the archive is cut off: it ends in the middle.',
  ],
  'an archive cut before it was compressed': [
    zipped((tarred) => gzipSync(tarred.subarray(0, 550))),
    'the archive is cut off: it ends in the middle.',
  ],
  'an archive cut in its header': [
    zipped((tarred) => gzipSync(tarred.subarray(0, 200))),
    'the archive is cut off: it ends in the middle.',
  ],
  'bytes behind the compression': [
    zipped((tarred) => Buffer.concat([gzipSync(tarred), Buffer.from('more')])),
    'the archive is damaged, or no .tar.gz archive.',
  ],
  'zeros behind the compression': [
    zipped((tarred) => Buffer.concat([gzipSync(tarred), Buffer.alloc(512)])),
    'the archive is damaged, or no .tar.gz archive.',
  ],
  'bytes behind the member': [
    zipped((tarred) => gzipSync(Buffer.concat([tarred, Buffer.alloc(1024, 'more')]))),
    'the archive is damaged, or no .tar.gz archive.',
  ],
  'a damaged archive': [
    zipped((tarred) => {
      const bytes = gzipSync(tarred)
      bytes.writeUInt8((bytes.at(-8) ?? 0) ^ 1, bytes.length - 8)
      return bytes
    }),
    'the archive is damaged, or no .tar.gz archive.',
  ],
  'something else compressed': [
    (here) => here.file(gzipSync(Buffer.alloc(2000, 'no tar'))),
    'the archive is damaged, or no .tar.gz archive.',
  ],
  'a file too large': [(here) => here.file(zeros), `it is larger than ${small} bytes, the most that the agent takes.`],
  'a member too large': [
    packed({ content: zeros }),
    `it is larger than ${small} bytes, the most that the agent takes.`,
  ],
  'an archive that unpacks without end': [
    zipped((tarred) => gzipSync(Buffer.concat([tarred, Buffer.alloc(small + 2 * 1024 * 1024)]))),
    `it is larger than ${small} bytes, the most that the agent takes.`,
  ],
  'no file': [
    () => ({ file: 'nowhere', sha256: none }),
    'it cannot be read: no such file or directory (ENOENT).',
    'release-unavailable',
  ],
  'a directory in place of a file': [
    (here) => ({ file: here.cwd, sha256: none }),
    'it cannot be read: it is no regular file.',
    'release-unavailable',
  ],
}

test.each(Object.entries(refusals))(
  '%s is refused, and does not come into the cache',
  async (_, [made, problem, code]) => {
    const here = workstation({ largest: small })
    const source = await made(here)
    await expect(here.fetch(release(source))).rejects.toMatchObject({
      code: code ?? 'release-invalid',
      message: `agent v1.2.3 for amd64 (${source.file}): ${problem}`,
      remedy: expect.stringMatching(/^[A-Z].*\.$/),
    })
    const left = existsSync(here.cache) ? readdirSync(here.cache) : []
    expect(left.filter((name) => name !== source.sha256)).toEqual([])
  },
)

test('what has another digest is shown by both digests and by what it is', async () => {
  const here = workstation()
  const page = Buffer.from('<html>Please sign in</html>')
  await expect(here.fetch(release(here.file(page, { sha256: none })))).rejects.toMatchObject({
    detail: `wanted ${none}\ngot    ${sha256(page)}: ${page.length} bytes, by its content an HTML page`,
  })
})

test('what is wrong with each architecture is told at once', async () => {
  const here = workstation()
  const sources = { amd64: here.file(arm), arm64: here.file(agent) }
  const failed = await here.fetch({ version: 'v1.2.3', sources }).catch((thrown: unknown) => thrown)
  expect(failed).toBeInstanceOf(AggregateError)
  expect((failed as AggregateError).errors).toMatchObject([
    { message: expect.stringContaining('it is a program for arm64') },
    { message: expect.stringContaining('it is a program for amd64') },
  ])
})

test('a cache that cannot be written is named', async () => {
  const cwd = directory()
  writeFileSync(join(cwd, 'cache'), 'a file where the directory belongs')
  const here = workstation({ cwd, cacheDirectory: join(cwd, 'cache', 'releases') })
  await expect(here.fetch(release(here.file(agent)))).rejects.toMatchObject({
    code: 'release-unavailable',
    message: expect.stringContaining(
      `it cannot be kept in ${join(cwd, 'cache', 'releases')}: not a directory (ENOTDIR).`,
    ),
  })
})
