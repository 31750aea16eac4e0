import { nothingThere, type Part, type PartAnswer } from './part.ts'

export interface PartText {
  /** Empty: there is none. */
  readonly text: string
  /** What is missing or was cut, and why; null: it is whole. */
  readonly note: string | null
  /** Nothing at all was read. */
  readonly isMissing: boolean
}

/** What `timeout` and the shell end with. */
const timedOut = [124, 137]
const noProgram = 127

/** The text of a part, in the order of time, without lines that were cut: half a line may be half a secret. */
export const partText = (part: Part, answer: PartAnswer): PartText => {
  if (answer.kind === 'skipped') return missing('the time for this host was up before it')
  const { bytes, code } = answer
  if (code === noProgram) return missing(`there is no ${part.argv[0]} on the host`)
  if (code === nothingThere) return missing(decoded(bytes).trim().replaceAll('\n', '; ').slice(0, 1000) || 'not there')
  const isLate = timedOut.includes(code)
  const isLong = bytes.length > part.bytes
  const text = inOrder(part, wholeLines(part, bytes, { isLong, isLate }))
  const notes = [
    ...(isLong ? [cutNote(part)] : []),
    ...(isLate ? [`not finished after ${part.seconds} s`] : []),
    ...(text === '' ? ['nothing was said'] : []),
    // A command whose output was cut ends with a signal, which says nothing.
    ...(code !== 0 && !isLate && !isLong ? [`exit code ${code}`] : []),
  ]
  return { text, note: notes.length === 0 ? null : notes.join('; '), isMissing: text === '' && (isLate || code !== 0) }
}

/** No more than the part may have, where what stands in place of secrets has made it longer. */
export const fitting = (part: Part, text: string): string => {
  if (Buffer.byteLength(text) <= part.bytes) return text
  const bytes = Buffer.from(text)
  return part.keep === 'first'
    ? upToLastLine(bytes.subarray(0, part.bytes).toString())
    : fromFirstLine(bytes.subarray(-part.bytes).toString())
}

const missing = (note: string): PartText => ({ text: '', note, isMissing: true })

const cutNote = ({ keep, bytes }: Part): string =>
  keep === 'first' ? `only the first ${bytes / 1024} KiB` : `only the last ${bytes / 1024} KiB`

const wholeLines = (
  { keep, bytes: most }: Part,
  bytes: Buffer,
  { isLong, isLate }: { readonly isLong: boolean; readonly isLate: boolean },
): string => {
  if (isLong) {
    return keep === 'last'
      ? fromFirstLine(decoded(bytes.subarray(-most)))
      : upToLastLine(decoded(bytes.subarray(0, most)))
  }
  return isLate ? upToLastLine(decoded(bytes)) : decoded(bytes)
}

const upToLastLine = (text: string): string => text.slice(0, text.lastIndexOf('\n') + 1)

const fromFirstLine = (text: string): string => {
  const end = text.indexOf('\n')
  return end < 0 ? '' : text.slice(end + 1)
}

/** Without what a terminal would act on, which may also stand in the middle of a name or a secret. */
const decoded = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replace(/\x1b\[[0-9;?]{0,32}[A-Za-z]/g, '')
    .replaceAll('\r\n', '\n')
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '')

const inOrder = ({ keep }: Part, text: string): string => {
  if (keep !== 'newest' || text === '') return text
  const entries: string[] = []
  for (const line of text.replace(/\n$/, '').split('\n')) {
    // The second line of an entry and those below are indented.
    if (/^[ \t]/.test(line) && entries.length > 0) entries.push(`${entries.pop()}\n${line}`)
    // Which boot it was would be said at the wrong end.
    else entries.push(/^-- (?:Boot|Reboot).*--$/.test(line) ? '-- another boot --' : line)
  }
  return `${entries.reverse().join('\n')}\n`
}
