import { keyTypeOf } from './host-key.ts'

/** One line of a known_hosts file that names a key. */
export interface KnownHostsLine {
  readonly marker: 'none' | 'revoked' | 'cert-authority'
  /** The first field as it stands: comma-separated patterns, or one hashed name. */
  readonly hosts: string
  readonly keyType: string
  readonly blob: Buffer
  readonly file: string
  /** Starts at 1; undefined: learnt by this process. */
  readonly line: number | undefined
}

export interface KnownHostsText {
  readonly lines: readonly KnownHostsLine[]
  /** Lines that cannot be read. OpenSSH passes over them too. */
  readonly badLineCount: number
}

export const parseKnownHosts = (text: string, file: string): KnownHostsText => {
  const lines: KnownHostsLine[] = []
  let badLineCount = 0
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const parsed = parseLine(trimmed)
    if (parsed === null) badLineCount += 1
    else lines.push({ ...parsed, file, line: index + 1 })
  }
  return { lines, badLineCount }
}

const markers = new Map([
  ['@revoked', 'revoked'],
  ['@cert-authority', 'cert-authority'],
] as const)

const parseLine = (line: string): Omit<KnownHostsLine, 'file' | 'line'> | null => {
  const fields = line.split(/[ \t]+/)
  const marker = markers.get(fields[0] as '@revoked')
  if (marker === undefined && line.startsWith('@')) return null
  const [hosts, keyType, base64] = marker === undefined ? fields : fields.slice(1)
  if (hosts === undefined || keyType === undefined || base64 === undefined) return null
  const blob = Buffer.from(base64, 'base64')
  return keyTypeOf(blob) === keyType ? { marker: marker ?? 'none', hosts, keyType, blob } : null
}
