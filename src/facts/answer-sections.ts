import { AnswerError } from './answer-error.ts'
import { type Lines, wordsOf } from './lines.ts'

/** Kinds of words in the forms below. Everything else there stands for itself. */
const kinds: Readonly<Record<string, (word: string) => boolean>> = {
  BASE64: (word) => word.length % 4 === 0 && !/[^A-Za-z0-9+/=]|=[^=]|===/.test(word),
  NUMBER: (word) => /^\d+$/.test(word),
  INTEGER: (word) => /^-?\d+$/.test(word),
  WORD: (word) => word !== '',
  MAYBE: () => true,
}

/** What a line of each section may look like. Anything else is no answer, whatever could be read out of it. */
const forms: Readonly<Record<string, readonly string[]>> = {
  mountinfo: [],
  os: [
    'release BASE64',
    'machine WORD',
    'boot WORD',
    'pid1 NUMBER',
    'uptime NUMBER',
    'id MAYBE',
    'selinux MAYBE',
    'uid NUMBER',
    'clock NUMBER',
    'systemd yes',
    'manager BASE64',
  ],
  self: [
    'lease INTEGER BASE64',
    'applying BASE64',
    'owed BASE64',
    'rollback armed BASE64',
    'rollback armed BASE64 proved',
    'rollback undoing BASE64',
    'rollback rolled-back BASE64',
    'whole yes',
  ],
  units: ['units BASE64', 'failed NUMBER BASE64', 'exe NUMBER BASE64'],
  starts: ['starts INTEGER...', 'starts unknown'],
  paths: ['BASE64'],
  texts: ['remote', 'none', 'denied', 'text BASE64 NUMBER'],
  digests: ['BASE64'],
  entries: ['remote', 'none', 'denied', 'many', 'names BASE64'],
  leftovers: ['BASE64'],
  mounts: ['remote', 'denied', 'mount WORD WORD BASE64 NUMBER NUMBER NUMBER NUMBER'],
  // Below its first line stand a package tool's own words, and of them only our format is read.
  packages: ['manager WORD', 'stalled', 'MAYBE...'],
  programs: ['none', 'at BASE64'],
  ports: ['free', 'used BASE64', 'unknown'],
  commands: ['code NUMBER BASE64'],
  lease: ['BASE64'],
  end: [],
}

/** Name of the section that was being read when the output ended: what hangs. */
export const lastSection = (output: string): string =>
  [...output.matchAll(/\x1eS ([a-z0-9]+)\n/g)].at(-1)?.[1] ?? 'start'

/** The sections of a whole answer, each line of a form that it may have. Throws AnswerError. */
export const sections = (output: string): Map<string, Lines> => {
  const found = new Map<string, Lines>()
  for (const piece of output.split('\x1eS ').slice(1)) {
    const [name = '', ...rest] = piece.split('\n')
    if (rest.at(-1) !== '') throw new AnswerError(lastSection(output), 'the answer is cut in the middle of a line')
    const allowed = forms[name]
    if (allowed === undefined || found.has(name)) throw new AnswerError(name, 'it came twice, or nobody asked for it')
    const lines = rest.slice(0, -1)
    // Which one and not what is in it: it may be a part of a secret.
    const odd = lines.findIndex((line) => !allowed.some((form) => fits(line, form)))
    if (odd >= 0) throw new AnswerError(name, `line ${odd + 1} has none of the forms it may have`)
    found.set(name, lines)
  }
  if (!found.has('end')) throw new AnswerError(lastSection(output), 'the answer stops here')
  return found
}

const fits = (line: string, form: string): boolean => {
  const words = wordsOf(line)
  const wanted = wordsOf(form.replace('...', ''))
  const repeated = form.endsWith('...') ? (wanted.pop() ?? null) : null
  const more = words.slice(wanted.length)
  return (
    wanted.every((want, at) => words[at] !== undefined && isKind(words[at], want)) &&
    (repeated === null ? more.length === 0 : more.every((word) => isKind(word, repeated)))
  )
}

const isKind = (word: string, kind: string): boolean => kinds[kind]?.(word) ?? word === kind
