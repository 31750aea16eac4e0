import { isUtf8 } from 'node:buffer'
import type { InputFault } from '../errors.ts'
import { faultAt } from './positions.ts'

export type ReadFile = (path: string) => Uint8Array

/** A file of the user's as text; `file` is the name to show for it. `missing` tells an unreadable file from a bad one. */
export const readText = (
  path: string,
  file: string,
  readFile: ReadFile,
): { text: string } | { fault: InputFault; missing: boolean } => {
  const at = { file, line: 1, column: 1 }
  let bytes: Uint8Array
  try {
    bytes = readFile(path)
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
    const [message, remedy] = reasons[code] ?? [
      `The file cannot be read (${code || String(thrown)}).`,
      'Check the path.',
    ]
    return { fault: faultAt(at, message, remedy), missing: true }
  }
  if (isUtf8(bytes)) return { text: new TextDecoder().decode(bytes) }
  return {
    fault: faultAt({ file, ...brokenPlace(bytes) }, 'The file is not UTF-8 text.', 'Save it as UTF-8.'),
    missing: false,
  }
}

const brokenPlace = (bytes: Uint8Array): { line: number; column: number } => {
  let line = 1
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start)
    const text = bytes.subarray(start, end === -1 ? undefined : end)
    if (!isUtf8(text)) return { line, column: new TextDecoder().decode(text).indexOf('\ufffd') + 1 }
    if (end === -1) return { line, column: 1 }
    start = end + 1
  }
}

const reasons: { [code: string]: readonly [message: string, remedy: string] } = {
  ENOENT: ['There is no such file.', 'Correct the path.'],
  EISDIR: ['This is a directory.', 'Name a file.'],
  EACCES: ['The file may not be read.', 'Give yourself the right to read it.'],
}
