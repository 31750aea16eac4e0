import type { Part, PartAnswer } from './part.ts'

export interface HostAnswer {
  readonly isRoot: boolean
  /** By file. */
  readonly parts: ReadonlyMap<string, PartAnswer>
}

/** What is wrong with an answer; the host cannot be believed then. */
export class CollectAnswerError extends Error {}

/** Reads what run-parts.sh printed. Strict: an answer is whole, in order, or refused. */
export const readAnswer = (output: string, parts: readonly Part[]): HostAnswer => {
  const [head = '', ...sections] = output.split('\x1eP ')
  const uid = /^uid (\d+)\n$/.exec(head)?.[1]
  if (uid === undefined) throw new CollectAnswerError('it does not begin with who reads')
  if (sections.pop() !== 'end\n') throw new CollectAnswerError('its end is missing')
  if (sections.length !== parts.length)
    throw new CollectAnswerError(`it has ${sections.length} parts instead of ${parts.length}`)
  return {
    isRoot: uid === '0',
    parts: new Map(parts.map((part, index) => [part.file, readPart(part, sections[index] ?? '')])),
  }
}

/** The part that was being read when the output stopped; null: none had been begun. */
export const lastPart = (output: string): string | null => {
  const at = output.lastIndexOf('\x1eP ')
  return at < 0 ? null : (/^[^\n]*/.exec(output.slice(at + 3))?.[0] ?? null)
}

const readPart = ({ file }: Part, section: string): PartAnswer => {
  const lines = section.split('\n')
  if (lines.length !== 3 || lines[0] !== file || lines[2] !== '')
    throw new CollectAnswerError(`the part ${file} is not where it should be`)
  if (lines[1] === 'skipped') return { kind: 'skipped' }
  const [, base64, code] = /^read ([A-Za-z0-9+/]*={0,2}) (\d{1,3})$/.exec(lines[1] ?? '') ?? []
  if (base64 === undefined || base64.length % 4 !== 0)
    throw new CollectAnswerError(`the part ${file} cannot be decoded`)
  return { kind: 'read', bytes: Buffer.from(base64, 'base64'), code: Number(code) }
}
