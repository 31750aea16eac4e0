import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Headers, pack } from 'tar-stream'
import { onTestFinished } from 'vitest'
import type { Fetch } from '../../src/release/download.ts'
import type { Architecture, BinarySource, Release, Releases } from '../../src/release/release.ts'
import { createReleases, type ReleaseMeans } from '../../src/release/releases.ts'

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The beginning of a program, and what makes it one of its own. */
export const program = (fields: { machine?: number; type?: number; bits?: number; order?: number } = {}, tail = '') => {
  const { machine = 62, type = 2, bits = 2, order = 1 } = fields
  const head = Buffer.alloc(64)
  head.set([0x7f, 0x45, 0x4c, 0x46, bits, order, 1])
  head.writeUInt16LE(type, 16)
  head.writeUInt16LE(machine, 18)
  return Buffer.concat([head, Buffer.from(`what the program does${tail}`)])
}

export const agent = program()
export const agentName = 'aks-flex-node-linux-amd64'

export type Member = Partial<Headers> & {
  readonly content?: Buffer
  readonly pax?: Readonly<Record<string, string>>
}

export const tar = async (...members: readonly Member[]): Promise<Buffer> => {
  const packing = pack()
  for (const { content, ...header } of members)
    packing.entry({ name: agentName, ...header }, content ?? Buffer.alloc(0))
  packing.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of packing) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

export const archive = async (...members: readonly Member[]): Promise<Buffer> => gzipSync(await tar(...members))

export const directory = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'drover-release-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

export const noNetwork: Fetch = () => Promise.reject(new Error('nothing is to be downloaded'))

export interface Workstation extends Releases {
  readonly cwd: string
  readonly cache: string
  readonly told: readonly string[]
  /** Puts a file there and names it as a source. */
  file(content: Buffer, more?: Partial<BinarySource>): BinarySource
}

export const workstation = (means: Partial<ReleaseMeans> = {}): Workstation => {
  const cwd = means.cwd ?? directory()
  const told: string[] = []
  const cache = means.cacheDirectory ?? join(cwd, 'cache', 'drover', 'releases')
  const patience = { idleMs: 10_000, wholeMs: 20_000, pausesMs: [1, 1, 1] }
  const tell = (message: string): void => void told.push(message)
  const releases = createReleases({ cwd, cacheDirectory: cache, fetch: noNetwork, tell, patience, ...means })
  return {
    ...releases,
    cwd,
    cache,
    told,
    file: (content, more) => {
      const name = `given-${sha256(content).slice(0, 8)}`
      writeFileSync(join(cwd, name), content)
      return { file: name, sha256: sha256(content), ...more }
    },
  }
}

export const release = (source: BinarySource, architecture: Architecture = 'amd64'): Release => ({
  version: 'v1.2.3',
  sources: { [architecture]: source },
})
