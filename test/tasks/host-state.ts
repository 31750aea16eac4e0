import { createHash } from 'node:crypto'
import { commandKey, type Fact, type ProbeName, probeKey } from '../../src/facts/fact.ts'
import { absent, type KnownNode, type Node } from '../../src/facts/node.ts'
import type { CommandResult, HostState, MountFacts, OsFacts, SelfFacts } from '../../src/facts/state.ts'
import { canonical, lookUp, parentOf } from '../../src/facts/tree.ts'
import { type UnitProperty, type UnitState, unitProperties } from '../../src/facts/unit.ts'
import { type Known, Unknown } from '../../src/facts/unknown.ts'

interface Attributes {
  readonly mode?: number
  readonly uid?: number
  /** Seconds since 1970; the builder's clock stands at 1_000_000. */
  readonly modifiedS?: number
}

export type PathLiteral =
  | 'absent'
  | 'other'
  | ({ readonly file: string } & Attributes)
  | { readonly link: string }
  /** Names listed are all there is in it; `true`: a directory whose names nobody asked for. */
  | ({ readonly dir: readonly string[] | true } & Attributes)
  | { readonly unreadable: string }
  | Unknown

export type UnitLiteral = Partial<Record<UnitProperty, Known<string>>> & {
  readonly exe?: Known<string>
  readonly starts?: Known<number>
}

export interface HostLiteral {
  readonly os?: Partial<OsFacts>
  readonly self?: Partial<SelfFacts>
  readonly rebooted?: boolean
  /** Why systemctl does not answer. */
  readonly noSystemd?: string
  readonly units?: Readonly<Record<string, UnitLiteral>> | undefined
  readonly paths?: Readonly<Record<string, PathLiteral>> | undefined
  readonly mounts?: Readonly<Record<string, Partial<MountFacts>>>
  readonly packages?: Readonly<Record<string, Known<string | null>>>
  readonly packageManager?: HostState['packageManager']
  readonly programs?: Readonly<Record<string, Known<string | null>>>
  readonly commands?: readonly (readonly [argv: readonly string[], result: Known<Partial<CommandResult>>])[]
  readonly ports?: Readonly<Record<number, Known<string | null>>>
  readonly probes?: Partial<Record<ProbeName, string>>
  /** What the agent's binaries say of themselves, by the path they are asked at. */
  readonly versions?: Readonly<Record<string, string>>
}

/**
 * A host out of a short literal. What `asked` asks for and the literal leaves out is answered as a bare host
 * would: units not found, paths absent, ports free, commands 127, mounts roomy and writable.
 */
export const hostState = (literal: HostLiteral = {}, asked: readonly Fact[] = []): HostState => {
  const names = <K extends Fact['kind']>(kind: K): Extract<Fact, { kind: K }>[] =>
    asked.filter((fact): fact is Extract<Fact, { kind: K }> => fact.kind === kind)
  const systemd =
    literal.noSystemd === undefined ? ({ ok: true } as const) : ({ ok: false, error: literal.noSystemd } as const)
  const listed = <V, L>(
    given: Readonly<Record<string, L>> | undefined,
    extra: readonly string[],
    bare: L,
    make: (literal: L) => V,
  ): Map<string, V> =>
    new Map([
      ...extra.map((name): [string, V] => [name, make(bare)]),
      ...Object.entries(given ?? {}).map(([name, value]): [string, V] => [name, make(value)]),
    ])
  const counted = new Set(names('unit').flatMap(({ name, starts }) => (starts ? [name] : [])))
  const units = systemd.ok
    ? new Map([
        ...names('unit').map(({ name, starts }): [string, UnitState] => [name, unitOf(name, notFound, starts)]),
        ...Object.entries(literal.units ?? {}).map(([name, unit]): [string, UnitState] => [
          name,
          unitOf(name, unit, counted.has(name)),
        ]),
      ])
    : new Map<string, UnitState>()
  return {
    os: { ...os, ...literal.os },
    self: { lease: null, applying: null, owed: [], rollback: null, leftovers: [], ...literal.self },
    rebooted: literal.rebooted ?? false,
    systemd,
    tree: { nodes: nodesOf(literal.paths ?? {}, names('path')) },
    units,
    mounts: listed(
      literal.mounts,
      names('mount').map((fact) => fact.path),
      {},
      (mount) => ({ ...roomy, ...mount }),
    ),
    packages: listed(
      literal.packages,
      names('package').map((fact) => fact.name),
      null,
      (version) => version,
    ),
    packageManager: literal.packageManager === undefined ? 'apt' : literal.packageManager,
    programs: listed(
      literal.programs,
      names('program').map((fact) => fact.name),
      null,
      (path) => path,
    ),
    commands: new Map([
      ...names('command').map(({ argv }): [string, CommandResult] => [commandKey(argv), { code: 127, stdout: '' }]),
      ...(literal.commands ?? []).map(([argv, result]): [string, Known<CommandResult>] => [
        commandKey(argv),
        result instanceof Unknown ? result : { code: 0, stdout: '', ...result },
      ]),
    ]),
    ports: new Map([
      ...names('port').map(({ port }): [number, Known<string | null>] => [port, null]),
      ...Object.entries(literal.ports ?? {}).map(([port, owner]): [number, Known<string | null>] => [
        Number(port),
        owner,
      ]),
    ]),
    probes: new Map([
      ...names('probe').map(({ name, args }): [string, CommandResult] => [
        probeKey(name, args ?? []),
        {
          code: 0,
          stdout:
            literal.probes?.[name] ?? (name === 'selinux-denials' ? 'source=journal\ndenials=0\nreset_failed=0\n' : ''),
        },
      ]),
      ...Object.entries(literal.probes ?? {}).map(([name, stdout]): [string, CommandResult] => [
        probeKey(name as ProbeName, []),
        { code: 0, stdout },
      ]),
      ...names('probe').flatMap(({ name, args = [] }): [string, CommandResult][] =>
        name === 'agent-version' ? [[probeKey(name, args), saidBy(literal.versions?.[args[0] ?? ''])]] : [],
      ),
    ]),
    secretPaths: new Set(names('path').flatMap((fact) => (fact.secret ? [fact.path] : []))),
  }
}

const saidBy = (version: string | undefined): CommandResult =>
  version === undefined
    ? { code: 127, stdout: '' }
    : { code: 0, stdout: `AKS Flex Node Agent\nVersion: ${version}\nGit Commit: x\nBuild Time: y\n` }

const nodesOf = (
  paths: Readonly<Record<string, PathLiteral>>,
  asked: readonly Extract<Fact, { kind: 'path' }>[],
): Map<string, KnownNode> => {
  const nodes = new Map<string, KnownNode>()
  const put = (path: string, node: KnownNode): void => {
    const at = canonical({ nodes }, path)
    if (at instanceof Unknown) return
    for (let above = parentOf(at); !nodes.has(above); above = parentOf(above)) nodes.set(above, directory({}))
    nodes.set(at, node)
  }
  // Links first, so that what lies below them is put where it really is.
  const literals = Object.entries(paths).sort(([a, left], [b, right]) => order(left) - order(right) || (a < b ? -1 : 1))
  for (const [path, literal] of literals) put(path, nodeOf(literal))
  const bare = asked.map((fact) => fact.path).sort((a, b) => a.length - b.length)
  for (const path of bare) if (lookUp({ nodes }, path) === undefined) put(path, absent)
  for (const { path } of asked.filter((fact) => fact.entries)) addEntries(nodes, path)
  return nodes
}

const order = (literal: PathLiteral): number => (typeof literal === 'object' && 'link' in literal ? 0 : 1)

const addEntries = (nodes: Map<string, KnownNode>, path: string): void => {
  const at = canonical({ nodes }, path, true)
  const node = at instanceof Unknown ? undefined : nodes.get(at)
  if (
    at instanceof Unknown ||
    node === undefined ||
    node instanceof Unknown ||
    node.type !== 'directory' ||
    node.entries !== undefined
  )
    return
  const inside = [...nodes].filter(
    ([key, child]) => parentOf(key) === at && key !== at && (child instanceof Unknown || child.type !== 'absent'),
  )
  nodes.set(at, { ...node, entries: inside.map(([key]) => key.slice(key.lastIndexOf('/') + 1)).sort() })
}

const nodeOf = (literal: PathLiteral): KnownNode => {
  if (literal instanceof Unknown) return literal
  if (literal === 'absent') return absent
  if (literal === 'other') return { type: 'other' }
  if ('link' in literal) return { type: 'symlink', target: literal.link }
  if ('unreadable' in literal) return { type: 'unreadable', why: literal.unreadable }
  if ('dir' in literal) return directory(literal, literal.dir === true ? undefined : literal.dir)
  const content = new TextEncoder().encode(literal.file)
  return {
    type: 'file',
    ...owner(literal, 0o644),
    size: content.length,
    content,
    sha256: createHash('sha256').update(content).digest('hex'),
    inode: '1:1',
    modifiedS: literal.modifiedS ?? 900_000,
  }
}

const directory = (attributes: Attributes, entries?: readonly string[]): Node => ({
  type: 'directory',
  ...owner(attributes, 0o755),
  ...(entries !== undefined && { entries: [...entries].sort() }),
})

const owner = ({ mode, uid }: Attributes, usual: number) => ({
  mode: mode ?? usual,
  uid: uid ?? 0,
  gid: 0,
  user: 'root',
  group: 'root',
})

const notFound: UnitLiteral = { LoadState: 'not-found' }

const unitOf = (name: string, { exe, starts, ...given }: UnitLiteral, counted = false): UnitState => {
  const usual: Partial<Record<UnitProperty, string>> = {
    Id: name,
    LoadState: 'loaded',
    ActiveState: 'inactive',
    SubState: 'dead',
    MainPID: '0',
    NRestarts: '0',
    Result: 'success',
    NeedDaemonReload: 'no',
  }
  const properties = Object.fromEntries(
    unitProperties.map((property) => [property, given[property] ?? usual[property] ?? '']),
  ) as Record<UnitProperty, Known<string>>
  const count = starts ?? (counted ? 0 : undefined)
  return { properties, exe: exe ?? '', ...(count !== undefined && { starts: count }) }
}

const roomy: MountFacts = {
  mountPoint: '/',
  fsType: 'ext4',
  readOnly: false,
  noexec: false,
  freeBytes: 100 * 2 ** 30,
  freeInodes: 1_000_000,
}

const os: OsFacts = {
  id: 'rocky',
  idLike: ['rhel', 'centos', 'fedora'],
  variantId: '',
  versionId: '9.8',
  prettyName: 'Rocky Linux 9.8',
  family: 'rhel',
  architecture: 'x86_64',
  systemdVersion: 252,
  virtualization: '',
  systemState: 'running',
  bootId: 'boot',
  pid1Start: '1',
  machineId: 'machine',
  uptimeS: 1000,
  selinux: 'enforcing',
  uid: 0,
  clockS: 1_000_000,
  isSystemd: true,
}
