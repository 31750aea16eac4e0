import { osFacts, selfFacts } from './answer-host.ts'
import { noPermission, remote, treeOf } from './answer-paths.ts'
import { systemdAnswer, unitStates } from './answer-units.ts'
import { type Lines, text, wordsOf } from './lines.ts'
import type { Question } from './question.ts'
import { sectionsOf } from './question.ts'
import type { CommandResult, HostState, MountFacts } from './state.ts'

/** The answer has not the form that the question calls for: a fault of ours or a damaged stream. */
export class AnswerError extends Error {
  readonly section: string
  constructor(section: string, why: string) {
    super(`section ${section}: ${why}`)
    this.name = 'AnswerError'
    this.section = section
  }
}

/** The host's state out of the inspect script's standard output. Throws AnswerError. */
export const readAnswer = (question: Question, output: string): HostState => {
  const sections = split(output)
  if (!sections.has('end')) throw new AnswerError(lastSection(output), 'the answer stops here')
  const lines = (name: string): Lines => sections.get(name) ?? []
  const exactly = (name: string, count: number): Lines => {
    const got = lines(name)
    if (got.length !== count) throw new AnswerError(name, `${count} lines expected, ${got.length} came`)
    return got
  }
  for (const { name } of sectionsOf(question)) if (!sections.has(name)) throw new AnswerError(name, 'no answer')
  const systemd = question.units.length === 0 ? ({ ok: true } as const) : systemdAnswer(lines('units'))
  return {
    os: osFacts(lines('os')),
    self: selfFacts(lines('self'), lines('leftovers')),
    systemd,
    units: systemd.ok ? unitStates(question, lines('units'), exactly('starts', question.startsOf.length)) : new Map(),
    tree: treeOf(question, {
      paths: lines('paths'),
      texts: exactly('texts', question.texts.length),
      digests: lines('digests'),
      entries: exactly('entries', question.directories.length),
    }),
    mounts: mounts(question, lines('mounts')),
    packages: packages(question, lines('packages')),
    programs: new Map(
      exactly('programs', question.programs.length).map((line, index) => [
        question.programs[index] as string,
        line === 'none' ? null : text(wordsOf(line)[1]),
      ]),
    ),
    ports: new Map(
      exactly('ports', question.ports.length).map((line, index) => [
        question.ports[index] as number,
        line === 'free' ? null : text(wordsOf(line)[1]),
      ]),
    ),
    commands: results(question, exactly('commands', question.commands.length), 'command:'),
    probes: results(question, lines('commands'), 'probe:'),
    packageManager: packageManager(lines('packages')),
    secretPaths: new Set(question.secretPaths),
  }
}

/** Name of the section that was being read when the output ended: what hangs. */
export const lastSection = (output: string): string =>
  [...output.matchAll(/\x1eS ([a-z0-9]+)\n/g)].at(-1)?.[1] ?? 'start'

const split = (output: string): Map<string, Lines> => {
  const sections = new Map<string, Lines>()
  for (const piece of output.split('\x1eS ').slice(1)) {
    const [name = '', ...rest] = piece.split('\n')
    sections.set(name, rest.slice(0, -1))
  }
  return sections
}

const results = (question: Question, lines: Lines, kind: string): Map<string, CommandResult> => {
  const all = new Map<string, CommandResult>()
  for (const [index, { key }] of question.commands.entries()) {
    if (!key.startsWith(kind)) continue
    const [, code, stdout] = wordsOf(lines[index] ?? '')
    all.set(key, { code: Number(code), stdout: text(stdout) })
  }
  return all
}

const packageManager = (lines: Lines): HostState['packageManager'] => {
  const manager = wordsOf(lines[0] ?? '')[1]
  return manager === 'apt' || manager === 'dnf' ? manager : null
}

const packages = (question: Question, lines: Lines): Map<string, string | null> => {
  const all = new Map<string, string | null>(question.packages.map((name) => [name, null]))
  for (const line of lines.slice(1)) {
    const [status, name = '', version = ''] = wordsOf(line)
    // dpkg adds the architecture to names of foreign packages only when asked; rpm never does.
    if (status === 'installed' && all.has(name)) all.set(name, version)
  }
  return all
}

const mounts = (question: Question, lines: Lines): HostState['mounts'] => {
  const all = new Map<string, MountFacts | { unreadable: string }>()
  for (const [index, path] of question.mounts.entries()) {
    const [word, options = '', fsType = '', point, blockSize, blocks, inodes] = wordsOf(lines[index] ?? '')
    if (word !== 'mount') {
      all.set(path, { unreadable: word === 'remote' ? remote : noPermission })
      continue
    }
    const flags = options.split(',')
    all.set(path, {
      mountPoint: text(point),
      fsType,
      readOnly: flags.includes('ro'),
      noexec: flags.includes('noexec'),
      freeBytes: Number(blockSize) * Number(blocks),
      freeInodes: Number(inodes),
    })
  }
  return all
}
