import { commandKey } from '../../src/facts/fact.ts'
import type { Question } from '../../src/facts/question.ts'
import { sectionsOf } from '../../src/facts/question.ts'
import { nameOf, parentOf } from '../../src/facts/tree.ts'
import { unitProperties } from '../../src/facts/unit.ts'

/** What a path of a recorded host is. Owner and times are root's and the builder's own. */
type Recorded =
  | 'absent'
  | 'denied'
  | 'remote'
  | 'socket'
  | { readonly file: string; readonly mode?: string; readonly owner?: string; readonly sha256?: string }
  | { readonly dir: readonly string[]; readonly mode?: string }
  | { readonly link: string }

export interface RecordedHost {
  readonly os?: Readonly<Record<string, string>>
  readonly release?: string
  readonly manager?: string
  readonly self?: readonly string[]
  /** By unit, `KEY=value` lines as systemctl shows them, Id included; a string is taken as it is. */
  readonly units?: Readonly<Record<string, Readonly<Record<string, string>> | string>>
  readonly noSystemd?: string
  readonly exes?: Readonly<Record<string, string>>
  readonly starts?: Readonly<Record<string, readonly (number | 'unknown')[]>>
  readonly paths?: Readonly<Record<string, Recorded>>
  readonly leftovers?: readonly string[]
  readonly mounts?: Readonly<Record<string, string>>
  readonly packages?: readonly string[]
  readonly programs?: Readonly<Record<string, string>>
  readonly ports?: Readonly<Record<number, string>>
  readonly commands?: readonly (readonly [argv: readonly string[], code: number, stdout: string])[]
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64')
const records = (all: readonly string[]): string => base64(all.map((record) => `${record}\0`).join(''))

/** The sections of an answer as inspect/*.sh would print them for this question on such a host. */
export const answerSections = (question: Question, host: RecordedHost = {}): Map<string, string[]> => {
  const kindOf = (path: string): Recorded => host.paths?.[path] ?? impliedBy(host, path)
  const real = (path: string): Recorded => {
    let [at, kind] = [path, kindOf(path)]
    for (let hops = 0; typeof kind === 'object' && 'link' in kind && hops < 40; hops += 1) {
      at = kind.link.startsWith('/') ? kind.link : `${parentOf(at)}/${kind.link}`
      kind = kindOf(at)
    }
    return kind
  }
  const lines: Record<string, () => string[]> = {
    os: () => osLines(host),
    self: () => [...(host.self ?? []), 'whole yes'],
    units: () => unitLines(question, host),
    starts: () => question.startsOf.map((unit) => ['starts', ...(host.starts?.[unit] ?? [])].join(' ')),
    paths: () => [records(pathRecords(question.paths, host, kindOf))],
    texts: () =>
      question.texts.map(({ path, max }) => {
        const kind = real(path)
        if (kind === 'denied' || kind === 'remote') return kind
        if (typeof kind !== 'object' || !('file' in kind)) return 'none'
        return `text ${Buffer.from(kind.file).subarray(0, max).toString('base64')} 0`
      }),
    digests: () => [
      records(
        question.digests.flatMap((path) => {
          const kind = real(path)
          return typeof kind === 'object' && 'file' in kind ? [`${kind.sha256 ?? 'a'.repeat(64)} *${path}`] : []
        }),
      ),
    ],
    entries: () =>
      question.directories.map((path) => {
        const kind = real(path)
        if (kind === 'denied' || kind === 'remote') return kind
        return typeof kind === 'object' && 'dir' in kind ? `names ${records(kind.dir)}` : 'none'
      }),
    leftovers: () => [records(host.leftovers ?? [])],
    mounts: () =>
      question.mounts.map(
        (path) => host.mounts?.[path] ?? `mount rw,relatime,rw ext4 ${base64('/')} 4096 25600 1000 900`,
      ),
    packages: () => ['manager apt', ...(host.packages ?? [])],
    programs: () =>
      question.programs.map((name) =>
        host.programs?.[name] === undefined ? 'none' : `at ${base64(host.programs[name])}`,
      ),
    ports: () =>
      question.ports.map((port) => (host.ports?.[port] === undefined ? 'free' : `used ${base64(host.ports[port])}`)),
    commands: () =>
      question.commands.map(({ key }) => {
        const [, code, stdout] = (host.commands ?? []).find(([argv]) => commandKey(argv) === key) ?? [[], 127, '']
        return `code ${code} ${base64(stdout)}`
      }),
  }
  return new Map([
    ['mountinfo', []],
    ...sectionsOf(question).map(({ name }): [string, string[]] => [name, lines[name]?.() ?? []]),
    ['end', []],
  ])
}

export const printAnswer = (sections: ReadonlyMap<string, readonly string[]>): string =>
  [...sections].map(([name, lines]) => `\x1eS ${name}\n${lines.map((line) => `${line}\n`).join('')}`).join('')

/** A whole answer. */
export const answerOf = (question: Question, host: RecordedHost = {}): string =>
  printAnswer(answerSections(question, host))

const impliedBy = (host: RecordedHost, path: string): Recorded => {
  const below = Object.entries(host.paths ?? {}).filter(
    ([name, kind]) => kind !== 'absent' && name.startsWith(path === '/' ? '/' : `${path}/`),
  )
  if (path !== '/' && below.length === 0) return 'absent'
  return { dir: below.filter(([name]) => parentOf(name) === path).map(([name]) => nameOf(name)) }
}

const osLines = (host: RecordedHost): string[] => [
  `release ${base64(host.release ?? 'ID=debian\n')}`,
  ...Object.entries({
    machine: 'x86_64',
    boot: 'b',
    pid1: '7',
    uptime: '100',
    id: 'm',
    uid: '0',
    clock: '1000000',
    ...host.os,
  }).map(([key, value]) => `${key} ${value}`),
  'systemd yes',
  `manager ${base64(host.manager ?? 'Version=252.39-1\nVirtualization=docker\nSystemState=running\n')}`,
]

const unitLines = (question: Question, host: RecordedHost): string[] => {
  if (host.noSystemd !== undefined) return [`failed 1 ${base64(host.noSystemd)}`]
  const blocks = question.units.map((name) => {
    const given = host.units?.[name] ?? { LoadState: 'not-found', ActiveState: 'inactive', MainPID: '0' }
    if (typeof given === 'string') return given
    // systemd prints in an order of its own, Id late.
    const all: Record<string, string> = { ...given, Id: given.Id ?? name }
    const keys = [...unitProperties.filter((key) => key !== 'Id' && key !== 'LoadState'), 'Id', 'LoadState']
    return keys.flatMap((key) => (all[key] === undefined ? [] : [`${key}=${all[key]}\n`])).join('')
  })
  const pids = blocks.flatMap((block) => [...block.matchAll(/^MainPID=([1-9]\d*)$/gm)].map(([, pid]) => pid ?? ''))
  return [`units ${base64(blocks.join('\n'))}`, ...pids.map((pid) => `exe ${pid} ${base64(host.exes?.[pid] ?? '')}`)]
}

const pathRecords = (paths: readonly string[], host: RecordedHost, kindOf: (path: string) => Recorded): string[] => {
  // As the script does: whatever the host is said to have may stand behind a link, so all of it is told.
  const all = [...new Set([...paths, ...Object.keys(host.paths ?? {})])]
  return all.flatMap((path) => {
    const kind = kindOf(path)
    if (kind === 'absent') return ['A', path]
    if (kind === 'denied') return ['P', path]
    if (kind === 'remote') return ['N', path]
    if (kind === 'socket') return ['S', path, 'c1ed 0 0 0 1700000000 1:5 root:root']
    if ('link' in kind) return ['L', path, kind.link]
    if ('dir' in kind) return ['S', path, `${kind.mode ?? '41ed'} 0 0 4096 1700000000 1:2 root:root`]
    return [
      'S',
      path,
      `${kind.mode ?? '81a4'} 0 0 ${Buffer.byteLength(kind.file)} 1700000000 1:3 ${kind.owner ?? 'root:root'}`,
    ]
  })
}
