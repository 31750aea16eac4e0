import type { Document, YAMLError } from 'yaml'
import type { Complaint } from './yaml-data.ts'

const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

/** What makes a text no YAML 1.2 file at all; nothing of it is looked at further. */
export const syntaxFaults = (document: Document, text: string): Complaint[] => {
  const unprintable = control.exec(text)
  // The library's lexer goes astray after one, so its own errors would mislead.
  if (unprintable !== null) return [unprintableAt(unprintable.index, text)]
  // The library tells of a flow map that is never closed once for each map that holds it.
  const all = [...document.errors, ...document.warnings].map(complaint)
  const complaints = [...new Map(all.map((one) => [`${one.offset} ${one.message}`, one])).values()]
  const version = document.directives?.yaml
  if (version?.explicit === true && version.version !== '1.2') {
    const message = `The file asks for YAML ${version.version}.`
    complaints.push({ offset: 0, message, remedy: 'Remove the %YAML line: drover reads YAML 1.2.' })
  }
  return complaints
}

const unprintableAt = (offset: number, text: string): Complaint => {
  const code = text.charCodeAt(offset).toString(16).padStart(4, '0')
  return { offset, message: `The file holds the control character U+${code}.`, remedy: 'Remove it.' }
}

const complaint = ({ code, message, pos }: YAMLError): Complaint => {
  const known = wordings[code]
  return { offset: pos[0], message: known?.[0] ?? `${message}.`.replace(/\.\.$/, '.'), remedy: known?.[1] ?? general }
}

const general = 'Correct the YAML there; a text with : # [ ] { } or quotes in it often needs quotes around it.'

const wordings: { [code in YAMLError['code']]?: readonly [message: string | undefined, remedy: string] } = {
  TAB_AS_INDENT: [undefined, 'Indent with spaces.'],
  BAD_INDENT: [undefined, 'Align the line with its neighbours, with spaces, and close every { and [.'],
  MULTIPLE_DOCS: [
    'The file holds several YAML documents.',
    'Keep one document: remove the line --- and what follows, or split the file.',
  ],
  NON_STRING_KEY: ['A key is not a plain text.', 'Write a text as the key.'],
  RESOURCE_EXHAUSTION: ['The values are nested too deeply.', 'Nest less.'],
  TAG_RESOLVE_FAILED: [undefined, 'Remove the tag: drover reads plain YAML values.'],
}
