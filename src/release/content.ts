import type { Architecture } from './release.ts'

/** This many bytes tell what a file is. */
export const headLength = 512

const machines: Readonly<Record<Architecture, number>> = { amd64: 62, arm64: 183 }

const otherMachines: Readonly<Record<number, string>> = {
  3: '32-bit x86',
  8: 'MIPS',
  21: 'ppc64',
  22: 's390x',
  40: '32-bit arm',
  243: 'riscv64',
  258: 'loong64',
}

/** As `e_type` of an ELF file has it. */
const programTypes = [2, 3]

export const isGzip = (head: Buffer): boolean => startsWith(head, [0x1f, 0x8b])

/** What the file is instead of a program for this architecture; null: it is one. */
export const notTheProgram = (head: Buffer, architecture: Architecture): string | null => {
  if (!isElf(head)) return contentName(head)
  if (head.length < 64) return 'the beginning of a program, cut off'
  if (head[4] !== 2) return 'a 32-bit program'
  if (head[5] !== 1) return 'a big-endian program'
  const [type, machine] = [head.readUInt16LE(16), head.readUInt16LE(18)]
  if (machine !== machines[architecture]) return `a program for ${machineName(machine)}`
  return programTypes.includes(type) ? null : 'an ELF file that is no program'
}

const machineName = (machine: number): string =>
  Object.entries(machines).find(([, number]) => number === machine)?.[0] ??
  otherMachines[machine] ??
  `another machine (number ${machine})`

const isElf = (head: Buffer): boolean => startsWith(head, [0x7f, 0x45, 0x4c, 0x46])

const beginnings: readonly (readonly [readonly number[], string])[] = [
  [[0x7f, 0x45, 0x4c, 0x46], 'an ELF file'],
  [[0x1f, 0x8b], 'a gzip archive'],
  [[0x23, 0x21], 'a script'],
  [[0x4d, 0x5a], 'a Windows program'],
  [[0xcf, 0xfa, 0xed, 0xfe], 'a macOS program'],
  [[0xca, 0xfe, 0xba, 0xbe], 'a macOS program'],
  [[0x50, 0x4b], 'a zip archive'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'an xz archive'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'a zstd archive'],
  [[0x42, 0x5a, 0x68], 'a bzip2 archive'],
]

/** What a file is by its first bytes, for messages. */
export const contentName = (head: Buffer): string => {
  if (head.length === 0) return 'empty'
  const found = beginnings.find(([bytes]) => startsWith(head, bytes))
  if (found !== undefined) return found[1]
  if (head.subarray(257, 262).toString('latin1') === 'ustar') return 'a tar archive that is not compressed'
  const text = head.toString('latin1').trimStart().toLowerCase()
  if (text.startsWith('<!doctype html') || text.startsWith('<html')) return 'an HTML page'
  if (text.startsWith('<')) return 'an XML text'
  if (text.startsWith('{')) return 'a JSON text'
  return /^[\t\n\r\x20-\x7e]+$/.test(text) ? 'a text' : 'something else'
}

const startsWith = (head: Buffer, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte)
