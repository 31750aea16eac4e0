import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { withFileLock } from './file-lock.ts'
import { keyTypeOf } from './host-key.ts'
import { hashedName, knownHostsName } from './host-pattern.ts'
import { parseKnownHosts } from './known-hosts-line.ts'
import type { HostKeyVerdict } from './known-hosts-lookup.ts'
import { judgeHostKey, linesFor } from './known-hosts-lookup.ts'

export interface LearntKey {
  readonly address: string
  readonly port: number
  readonly blob: Buffer
}

/**
 * Adds a host's key to the file if the file, read again under the lock, knows no key of that host. Returns what the
 * file said before: `unknown` means that the key was added.
 */
export const appendKnownHost = async (file: string, learnt: LearntKey): Promise<HostKeyVerdict> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  return withFileLock(`${file}.drover-lock`, async () => {
    const text = await readExisting(file)
    const { lines } = parseKnownHosts(text, file)
    const verdict = judgeHostKey(linesFor(lines, learnt.address, learnt.port), learnt.blob)
    if (verdict.status !== 'unknown') return verdict
    // A file whose names are all hashed was meant not to show them.
    const isHashed = lines.length > 0 && lines.every((line) => line.hosts.startsWith('|'))
    const name = knownHostsName(learnt.address, learnt.port)
    const field = isHashed ? hashedName(name, randomBytes(20)) : name
    const line = `${field} ${keyTypeOf(learnt.blob)} ${learnt.blob.toString('base64')}\n`
    await appendFile(file, text === '' || text.endsWith('\n') ? line : `\n${line}`, { mode: 0o600 })
    return verdict
  })
}

const readExisting = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
