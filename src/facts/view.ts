import { commandKey, type ProbeName, probeKey } from './fact.ts'
import type { Node } from './node.ts'
import type { CommandResult, HostState, MountFacts, OsFacts, SelfFacts, SystemdAnswer } from './state.ts'
import { canonical, lookUp } from './tree.ts'
import { hiddenExe, type UnitProperty, type UnitState } from './unit.ts'
import { known, Unreadable } from './unknown.ts'

/**
 * What a task reads a host through. Every getter returns a plain value: an Unknown ends the segment and an
 * unreadable one blocks the step, both outside the task. Reading what no fact asked for is a fault of the task.
 */
export interface HostView {
  readonly os: OsFacts
  readonly self: SelfFacts
  /** The host has been booted since the run first looked at it. */
  readonly rebooted: boolean
  readonly systemd: SystemdAnswer
  /** lstat: the last component is not followed. */
  node(path: string): Node
  /** stat: links are followed. */
  target(path: string): Node
  /** Where the path really is, every link followed. */
  realPath(path: string): string
  /** Content of a file, links followed, as UTF-8; null where there is none. */
  text(path: string): string | null
  /** Hex digest of a file, links followed; null where there is none. */
  sha256(path: string): string | null
  /** Names in a directory, links followed; empty where there is none. */
  entries(path: string): readonly string[]
  unit(name: string): UnitView
  /** Whether this unit was asked about at all. */
  knowsUnit(name: string): boolean
  mount(path: string): MountFacts
  package(name: string): string | null
  readonly packageManager: 'apt' | 'dnf' | null
  program(name: string): string | null
  command(argv: readonly string[]): CommandResult
  /** Owner of the listening socket, empty if it cannot be seen; null: the port is free. */
  port(port: number): string | null
  probe(name: ProbeName, args?: readonly string[]): CommandResult
}

export interface UnitView {
  readonly name: string
  get(property: UnitProperty): string
  /** A list property as words. */
  list(property: UnitProperty): readonly string[]
  /** What MainPID runs. */
  readonly exe: string
  readonly starts: number
  readonly isActive: boolean
  readonly isLoaded: boolean
}

export const viewOf = (state: HostState): HostView => {
  const node = (path: string, follow: boolean): Node => {
    const found = lookUp(state.tree, path, follow)
    if (found === undefined) throw notAsked(`path ${path}`)
    const value = known(path, found)
    if (value.type === 'unreadable') throw new Unreadable(path, value.why)
    return value
  }
  return {
    os: state.os,
    self: state.self,
    rebooted: state.rebooted,
    systemd: state.systemd,
    node: (path) => node(path, false),
    target: (path) => node(path, true),
    realPath: (path) => known(path, canonical(state.tree, path, true)),
    text: (path) => {
      const file = node(path, true)
      if (file.type !== 'file') return null
      return decoder.decode(known(`content of ${path}`, asked(file.content, `content of ${path}`)))
    },
    sha256: (path) => {
      const file = node(path, true)
      return file.type === 'file' ? known(`digest of ${path}`, asked(file.sha256, `digest of ${path}`)) : null
    },
    entries: (path) => {
      const directory = node(path, true)
      return directory.type === 'directory'
        ? known(`entries of ${path}`, asked(directory.entries, `entries of ${path}`))
        : []
    },
    unit: (name) => {
      if (!state.systemd.ok) throw new Unreadable(name, state.systemd.error)
      return unitView(name, asked(state.units.get(name), `unit ${name}`))
    },
    knowsUnit: (name) => state.units.has(name),
    mount: (path) => {
      const mount = asked(state.mounts.get(path), `mount of ${path}`)
      if ('unreadable' in mount) throw new Unreadable(`the file system of ${path}`, mount.unreadable)
      return mount
    },
    package: (name) => known(`package ${name}`, asked(state.packages.get(name), `package ${name}`)),
    packageManager: state.packageManager,
    program: (name) => known(`program ${name}`, asked(state.programs.get(name), `program ${name}`)),
    command: (argv) =>
      known(`output of ${argv.join(' ')}`, asked(state.commands.get(commandKey(argv)), `command ${argv.join(' ')}`)),
    port: (port) => {
      const owner = known(`port ${port}`, asked(state.ports.get(port), `port ${port}`))
      if (owner !== null && typeof owner === 'object') throw new Unreadable(`port ${port}`, owner.unreadable)
      return owner
    },
    probe: (name, args = []) => known(`probe ${name}`, asked(state.probes.get(probeKey(name, args)), `probe ${name}`)),
  }
}

// A byte order mark is a part of the text as much as any other character.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const unitView = (name: string, unit: UnitState): UnitView => {
  const get = (property: UnitProperty): string => known(`${property} of ${name}`, unit.properties[property])
  return {
    name,
    get,
    list: (property) =>
      get(property)
        .split(/\s+/)
        .filter((word) => word !== ''),
    get exe() {
      const exe = known(`executable of ${name}`, unit.exe)
      if (exe === hiddenExe) throw new Unreadable(`executable of ${name}`, 'its process does not show it')
      return exe
    },
    get starts() {
      return known(`starts of ${name}`, asked(unit.starts, `starts of ${name}`))
    },
    get isActive() {
      return get('ActiveState') === 'active'
    },
    get isLoaded() {
      return get('LoadState') === 'loaded'
    },
  }
}

const asked = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw notAsked(what)
  return value
}

const notAsked = (what: string): Error => new Error(`a task reads ${what}, which its facts() did not ask for`)
