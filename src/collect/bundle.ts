import { indexText } from './index-text.ts'
import type { Part } from './part.ts'
import { fitting, partText } from './part-text.ts'
import type { HostAnswer } from './read-answer.ts'
import { scrub } from './redaction/scrub.ts'

/** One file of a bundle as it is written: nothing in it has not been redacted. */
export interface BundleFile {
  readonly file: string
  readonly text: string
}

export interface CollectedPart {
  readonly file: string
  readonly about: string
  readonly bytes: number
  /** What is missing or was cut, and why; null: it is whole. */
  readonly note: string | null
  readonly isMissing: boolean
  /** Places where something was hidden. */
  readonly hidden: number
}

export interface BundleInfo {
  readonly host: string
  readonly collected: Date
  readonly version: string
  readonly sinceS: number
}

export interface Bundle {
  readonly files: readonly BundleFile[]
  readonly parts: readonly CollectedPart[]
  readonly hidden: number
}

/** Takes out the secrets that this run holds. */
type Redact = (text: string) => string

/** All files of a host's bundle. `redact` knows the secrets of this run; everything else that looks like one goes by its form. */
export const bundleOf = (
  parts: readonly Part[],
  { isRoot, parts: answers }: HostAnswer,
  { info, redact }: { readonly info: BundleInfo; readonly redact: Redact },
): Bundle => {
  const read = parts.map((part) => {
    const { text, note, isMissing } = partText(part, answers.get(part.file) ?? { kind: 'skipped' })
    const { text: safe, hidden } = clean(redact, text)
    const kept = fitting(part, safe)
    const notes = [...(note === null ? [] : [clean(redact, note).text]), ...(kept === safe ? [] : ['shortened to fit'])]
    const { file, about } = part
    const told = notes.length === 0 ? null : notes.join('; ')
    return { about: { file, about, bytes: Buffer.byteLength(kept), note: told, isMissing, hidden }, text: kept }
  })
  const collected = read.map(({ about }) => about)
  const index = indexText({ ...info, host: clean(redact, info.host).text }, collected, isRoot)
  return {
    files: [
      { file: 'index.txt', text: index },
      ...read.filter(({ text }) => text !== '').map(({ about, text }) => ({ file: about.file, text })),
    ],
    parts: collected,
    hidden: collected.reduce((sum, { hidden }) => sum + hidden, 0),
  }
}

const clean = (redact: Redact, text: string): { text: string; hidden: number } => {
  const known = redact(text)
  const { text: safe, hidden } = scrub(known)
  return { text: safe, hidden: hidden + count(known, '[secret]') - count(text, '[secret]') }
}

const count = (text: string, word: string): number => text.split(word).length - 1
