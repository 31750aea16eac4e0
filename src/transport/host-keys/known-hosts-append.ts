import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { withFileLock } from './file-lock.ts'
import { keyTypeOf } from './host-key.ts'
import { hashedName, knownHostsName } from './host-pattern.ts'
import { parseKnownHosts } from './known-hosts-line.ts'
import type { HostKeyVerdict, HostLines } from './known-hosts-lookup.ts'
import { judgeHostKey, linesFor } from './known-hosts-lookup.ts'
import { surveyHostKeys } from './known-hosts-survey.ts'

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
  let verdict: HostKeyVerdict = { status: 'ok' }
  await appendWhere(file, [learnt], (lines) => {
    verdict = judgeHostKey(lines, learnt.blob)
    return verdict.status === 'unknown'
  })
  return verdict
}

/**
 * Adds what is new among all the keys that hosts showed, where the file, read again under the lock, has nothing
 * against it. Returns those that were added.
 */
export const appendHostKeys = (file: string, shown: readonly LearntKey[]): Promise<readonly LearntKey[]> =>
  appendWhere(file, shown, (lines, { blob, address, port }) => {
    const own = shown.filter((other) => other.address === address && other.port === port)
    const keys = surveyHostKeys(
      lines,
      own.map((other) => other.blob),
    )
    return keys.some((key) => key.state === 'new' && key.blob.equals(blob))
  })

const appendWhere = async (
  file: string,
  learnt: readonly LearntKey[],
  isWanted: (lines: HostLines, key: LearntKey) => boolean,
): Promise<readonly LearntKey[]> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  return withFileLock(`${file}.drover-lock`, async () => {
    const text = await readExisting(file)
    const { lines } = parseKnownHosts(text, file)
    const wanted = learnt.filter((key) => isWanted(linesFor(lines, key.address, key.port), key))
    if (wanted.length === 0) return []
    // A file whose names are all hashed was meant not to show them.
    const isHashed = lines.length > 0 && lines.every((line) => line.hosts.startsWith('|'))
    const added = wanted.map(({ address, port, blob }) => {
      const name = knownHostsName(address, port)
      const field = isHashed ? hashedName(name, randomBytes(20)) : name
      return `${field} ${keyTypeOf(blob)} ${blob.toString('base64')}\n`
    })
    await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${added.join('')}`, { mode: 0o600 })
    return wanted
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
