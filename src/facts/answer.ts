import { AnswerError } from './answer-error.ts'
import { osFacts, selfFacts } from './answer-host.ts'
import { noPermission, remote, treeOf } from './answer-paths.ts'
import { sections } from './answer-sections.ts'
import { systemdAnswer, unitStates } from './answer-units.ts'
import { type Lines, text, wordsOf } from './lines.ts'
import type { Question } from './question.ts'
import { sectionsOf } from './question.ts'
import type { CommandResult, HostState, MountFacts } from './state.ts'

/** The host's state out of the inspect script's standard output. Throws AnswerError. */
export const readAnswer = (question: Question, output: string): HostState => {
  const found = sections(output)
  for (const { name } of sectionsOf(question)) if (!found.has(name)) throw new AnswerError(name, 'no answer')
  const lines = (name: string): Lines => found.get(name) ?? []
  const exactly = (name: string, count: number): Lines => {
    const got = lines(name)
    if (got.length !== count) throw new AnswerError(name, `${count} lines expected, ${got.length} came`)
    return got
  }
  const whole = (name: string, asked: readonly unknown[]): Lines => exactly(name, asked.length === 0 ? 0 : 1)
  const systemd = question.units.length === 0 ? ({ ok: true } as const) : systemdAnswer(lines('units'))
  const starts = exactly('starts', question.startsOf.length)
  return {
    os: osFacts(lines('os')),
    self: selfFacts(lines('self'), whole('leftovers', question.leftoversIn)),
    // One look cannot tell: it takes a run to compare two.
    rebooted: false,
    systemd,
    units: systemd.ok ? unitStates(question, lines('units'), starts) : new Map(),
    tree: treeOf(question, {
      paths: whole('paths', question.paths),
      texts: exactly('texts', question.texts.length),
      digests: whole('digests', question.digests),
      entries: exactly('entries', question.directories.length),
    }),
    mounts: mounts(question, exactly('mounts', question.mounts.length)),
    packages: packages(question, lines('packages')),
    programs: new Map(
      exactly('programs', question.programs.length).map((line, index) => [
        question.programs[index] as string,
        line === 'none' ? null : text(wordsOf(line)[1]),
      ]),
    ),
    ports: new Map(
      exactly('ports', question.ports.length).map((line, index) => [question.ports[index] as number, portOf(line)]),
    ),
    commands: results(question, exactly('commands', question.commands.length), 'command:'),
    probes: results(question, lines('commands'), 'probe:'),
    packageManager: packageManager(lines('packages')),
    secretPaths: new Set(question.secretPaths),
  }
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

const portOf = (line: string): string | null | { unreadable: string } => {
  if (line === 'unknown') return { unreadable: '/proc/net/tcp cannot be read' }
  return line === 'free' ? null : text(wordsOf(line)[1])
}

const packageManager = (lines: Lines): HostState['packageManager'] => {
  const manager = wordsOf(lines[0] ?? '')[1]
  return manager === 'apt' || manager === 'dnf' ? manager : null
}

const packages = (question: Question, lines: Lines): Map<string, string | null> => {
  const all = new Map<string, string | null>(question.packages.map((name) => [name, null]))
  if (all.size > 0 && !lines[0]?.startsWith('manager '))
    throw new AnswerError('packages', 'no package manager is named')
  if (lines.includes('stalled')) throw new AnswerError('packages', 'the package database does not answer')
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
    const [word, options = '', fsType = '', point, blockSize, blocks, inodes, freeInodes] = wordsOf(lines[index] ?? '')
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
      // A file system that counts no inodes, such as btrfs, never lacks one.
      freeInodes: Number(inodes) === 0 ? Number.POSITIVE_INFINITY : Number(freeInodes),
    })
  }
  return all
}
