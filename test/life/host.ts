import { agentUnit, machinesTarget, workerUnit } from '../../src/tasks/agent/names.ts'
import { ROOT, unitDirectory } from '../../src/tasks/agent/paths.ts'
import type { Armed } from './armed.ts'
import { type AgentBinary, binaryOf } from './binaries.ts'
import { Disk } from './disk.ts'

/** A unit as this systemd runs it. What it read of the files is kept until the next reload. */
interface Running {
  active: 'active' | 'inactive' | 'failed'
  pid: number
  exe: string
}

interface Loaded {
  readonly fragment: string
  readonly execStart: string
  readonly wants: readonly string[]
}

/** Bugs and mishaps that a host can have for a while. */
export interface Weather {
  /** /opt is mounted noexec. */
  noexec: boolean
  /** Nothing runs at the new root, for a reason that no mount shows: a policy, say. */
  denied: boolean
  /** The agent cannot write its units anew: its second pass comes to nothing (6.4, last sentence). */
  stuck: boolean
  /** The restart that a first pass queues never comes. */
  restartLost: boolean
}

/** The real thing that drover is tried on: a disk, a systemd and, in daemon.ts, an agent. */
export class LivingHost {
  readonly disk: Disk
  readonly weather: Weather = { noexec: false, denied: false, stuck: false, restartLost: false }
  readonly units = new Map<string, Running>()
  readonly loaded = new Map<string, Loaded>()
  /** Who holds the activation lock. */
  lock: 'drover' | 'agent' | null = null
  /** Digests of binaries that have stayed up as an agent here. */
  readonly ran = new Set<string>()
  /** The agent died or asked for it: systemd starts it anew after a while. */
  restartDue = false
  /** Of the next life of the agent: after so many of its own steps it is killed. */
  agentSteps = Number.POSITIVE_INFINITY
  boots = 1
  clockS = 1_000_000
  owed: readonly string[] = []
  armed: Armed | null = null
  private pids = 100
  /** Called after each thing that happens, however small. */
  onStep: (what: string) => void = () => undefined

  constructor(readOnly: readonly string[] = []) {
    this.disk = new Disk(readOnly)
  }

  unit(name: string): Running {
    const unit = this.units.get(name) ?? { active: 'inactive', pid: 0, exe: '' }
    this.units.set(name, unit)
    return unit
  }

  get agent(): Running {
    return this.unit(agentUnit)
  }

  /** What systemd has of a unit: from before the last reload, or read now where it never was. */
  load(name: string): Loaded | null {
    const known = this.loaded.get(name)
    if (known !== undefined) return known
    const fresh = this.read(name)
    if (fresh !== null) this.loaded.set(name, fresh)
    return fresh
  }

  reload(): void {
    for (const name of [...this.loaded.keys()]) {
      const fresh = this.read(name)
      if (fresh === null) this.loaded.delete(name)
      else this.loaded.set(name, fresh)
    }
  }

  private read(name: string): Loaded | null {
    const template = name.replace(/@[^@]+\./, '@.')
    const fragment = [unitDirectory, '/usr/lib/systemd/system']
      .flatMap((directory) => [`${directory}/${name}`, `${directory}/${template}`])
      .find((path) => this.disk.exists(path))
    if (fragment === undefined) return null
    const dropIns = this.disk.entries(`${unitDirectory}/${name}.d`).map((file) => `${unitDirectory}/${name}.d/${file}`)
    const lines = [fragment, ...dropIns].flatMap((path) => (this.disk.text(path) ?? '').split('\n'))
    const values = (key: string): string[] =>
      lines.flatMap((line) => (line.startsWith(`${key}=`) ? line.slice(key.length + 1).split(' ') : []))
    const wanted = this.disk.entries(`${unitDirectory}/${name}.wants`)
    return { fragment, execStart: values('ExecStart')[0] ?? '', wants: [...values('Wants'), ...wanted] }
  }

  isEnabled(name: string): boolean {
    return ['multi-user.target', machinesTarget].some((target) =>
      this.disk.exists(`${unitDirectory}/${target}.wants/${name}`),
    )
  }

  /** Starts it and what it wants. Of the agent only the process: what that then does is the daemon's. */
  start(name: string): void {
    const unit = this.unit(name)
    const loaded = this.load(name)
    if (loaded === null) return
    if (unit.active !== 'active') {
      unit.exe = name === agentUnit ? this.disk.real(loaded.execStart) : ''
      unit.active = name !== agentUnit || this.runs(loaded.execStart) !== null ? 'active' : 'failed'
      unit.pid = unit.active === 'active' ? this.nextPid() : 0
      if (unit.active !== 'active') unit.exe = ''
    }
    for (const wanted of loaded.wants) if (wanted !== name && this.unit(wanted).active !== 'active') this.start(wanted)
  }

  stop(name: string, as: 'inactive' | 'failed' = 'inactive'): void {
    const unit = this.unit(name)
    if (as === 'inactive' && unit.active === 'failed') return
    Object.assign(unit, { active: as, pid: 0, exe: '' })
    if (name === agentUnit) this.restartDue = false
  }

  /** The binary that would run under this name; null where nothing would. */
  runs(path: string): AgentBinary | null {
    const node = this.disk.stat(path)
    if (node.type !== 'file' || (node.mode & 0o111) === 0) return null
    const place = this.disk.real(path)
    if (this.weather.noexec && place.startsWith('/opt/')) return null
    if (this.weather.denied && place.startsWith(`${ROOT}/`)) return null
    return binaryOf(this.disk.digest(path))
  }

  get worker(): Running {
    return this.unit(workerUnit('kube1'))
  }

  nextPid(): number {
    this.pids += 1
    return this.pids
  }
}
