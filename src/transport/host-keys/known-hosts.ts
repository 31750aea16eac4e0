import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { InputFault } from '../../errors.ts'
import { InputError } from '../../errors.ts'
import { keyTypeOf } from './host-key.ts'
import { knownHostsName } from './host-pattern.ts'
import { KnownHostsIndex } from './known-hosts-index.ts'
import type { KnownHostsLine, KnownHostsText } from './known-hosts-line.ts'
import { parseKnownHosts } from './known-hosts-line.ts'
import type { HostLines } from './known-hosts-lookup.ts'

export interface KnownHosts {
  /** Where a key that is learnt is written. */
  readonly learnFile: string
  readonly badLineCount: number
  about(address: string, port: number): HostLines
  /** For the rest of this process; the file is another matter (known-hosts-append.ts). */
  learn(address: string, port: number, blob: Buffer): void
}

/** Each list of files is read once per cache. */
export type KnownHostsCache = Map<string, Promise<KnownHosts>>

export interface LoadKnownHostsOptions {
  readonly cache?: KnownHostsCache
  /** A named file may be missing: it will be made when the first key is learnt. */
  readonly mayBeMissing?: boolean
}

/** Reads known_hosts files; an empty list means the user's and the system's, which may be missing. */
export const loadKnownHosts = (
  files: readonly string[],
  { cache = new Map(), mayBeMissing = false }: LoadKnownHostsOptions = {},
): Promise<KnownHosts> => {
  const key = JSON.stringify([files, mayBeMissing])
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const loading = readAll(files.length > 0 ? files : defaultFiles(), mayBeMissing || files.length === 0)
  cache.set(key, loading)
  return loading
}

const defaultFiles = (): string[] => [
  join(homedir(), '.ssh', 'known_hosts'),
  join(homedir(), '.ssh', 'known_hosts2'),
  '/etc/ssh/ssh_known_hosts',
  '/etc/ssh/ssh_known_hosts2',
]

const readAll = async (files: readonly string[], mayBeMissing: boolean): Promise<KnownHosts> => {
  const read = await Promise.all(files.map((file) => readOne(file, mayBeMissing)))
  const faults = read.filter((result) => 'message' in result)
  if (faults.length > 0) throw new InputError('known-hosts-unreadable', faults)
  const texts = read.filter((result) => 'lines' in result)
  const lines = texts.flatMap((text) => text.lines)
  const badLineCount = texts.reduce((sum, text) => sum + text.badLineCount, 0)
  return createKnownHosts(lines, files[0] ?? '', badLineCount)
}

const readOne = async (file: string, mayBeMissing: boolean): Promise<KnownHostsText | InputFault> => {
  try {
    return parseKnownHosts(await readFile(file, 'utf8'), file)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    if (mayBeMissing && (reason === 'ENOENT' || reason === 'ENOTDIR')) return parseKnownHosts('', file)
    return {
      file,
      message: `cannot be read as known_hosts: ${reason}`,
      remedy: 'Correct the path in the inventory, or make the file readable for this user.',
    }
  }
}

const createKnownHosts = (read: readonly KnownHostsLine[], learnFile: string, badLineCount: number): KnownHosts => {
  const lines = new KnownHostsIndex(read)
  const found = new Map<string, HostLines>()
  return {
    learnFile,
    badLineCount,
    about: (address, port) => {
      const name = knownHostsName(address, port)
      const about = found.get(name) ?? lines.about(address, port)
      found.set(name, about)
      return about
    },
    learn: (address, port, blob) => {
      lines.add({
        marker: 'none',
        hosts: knownHostsName(address, port),
        keyType: keyTypeOf(blob),
        blob,
        file: learnFile,
        line: undefined,
      })
      found.clear()
    },
  }
}
