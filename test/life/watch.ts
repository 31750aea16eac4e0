import { viewOf } from '../../src/facts/view.ts'
import { fittingStates, type HostRootState, hostRootRow } from '../../src/tasks/agent/host-root.ts'
import { hostRootFacts, hostRootSigns } from '../../src/tasks/agent/host-root-signs.ts'
import { agentUnitFile, hostRoots, layoutEntry } from '../../src/tasks/agent/paths.ts'
import type { LivingHost } from './host.ts'
import { badLastGood, hostsOwn, inBothRoots, lostAgent, openHostsOwn, tooOld } from './invariants.ts'
import { observe } from './observe.ts'

/** What the table does not tell, since it is of hosts that keep their agent: an uninstall removes both roots, file by file. */
const whereNothingStays: readonly string[] = [
  ...['LEGACY', 'LEGACY-PLAIN', 'EMPTY-ROOT', 'SWAP-GAP'].map((state) => `${state} > ABSENT`),
  ...['MOVING-1 > EMPTY-ROOT', 'MOVING-2 > EMPTY-ROOT', 'STAGING > LINK-ORPHAN'],
]

/** Looks at a host after each thing that happens to it, and says no to what must never be. */
export class Watch {
  readonly host: LivingHost
  /** What happened, for whoever has to find out how it came to that. */
  readonly story: string[] = []
  /** How often each way from state to state was taken. */
  private readonly ways: Map<string, number>
  private state: HostRootState
  private hostsOwn: string
  private workerPid: number
  /** No agent has been up since it was installed, so none can be proved. */
  private isFresh: boolean
  /** Made current while the agent was stopped on purpose, so that nobody could prove them (U5). */
  private readonly unproved = new Set<string>()
  /** It was found with two installations and no move. */
  private readonly isConflict: boolean
  /** A reset or an uninstall is under way: the agent and its worker may go. */
  mayGo = false

  constructor(host: LivingHost, ways = new Map<string, number>()) {
    this.host = host
    this.ways = ways
    this.state = this.stateNow()
    this.hostsOwn = hostsOwn(host)
    this.workerPid = host.worker.pid
    this.isFresh = host.ran.size === 0
    this.isConflict = this.state === 'CONFLICT'
    host.onStep = (what) => this.step(what)
  }

  get root(): HostRootState {
    return this.state
  }

  /** A person does something: what that makes of the host is no step of drover or the agent. */
  begin(what: string): void {
    this.story.push(`-- ${what}`)
    this.state = this.stateNow()
    this.hostsOwn = hostsOwn(this.host)
    this.workerPid = this.host.worker.pid
    const { disk, agent } = this.host
    for (const path of hostRoots.map((root) => layoutEntry(root, 'current')))
      if (agent.active === 'inactive') this.unproved.add(disk.digest(path) ?? '')
  }

  private step(what: string): void {
    this.story.push(what)
    const broken = this.brokenBy(what)
    if (broken !== null)
      throw new Error(`${broken}\n  after: ${what}\n${this.story.map((line) => `    ${line}`).join('\n')}`)
  }

  private brokenBy(what: string): string | null {
    const before = this.state
    this.state = this.stateNow()
    const way = `${before} > ${this.state}`
    this.ways.set(way, (this.ways.get(way) ?? 0) + 1)
    const others = this.mayGo ? whereNothingStays : []
    const known = hostRootRow(before).leadsTo.includes(this.state) || others.includes(way)
    if (this.state !== before && !known) return `M4: ${before} does not lead to ${this.state}`
    this.noteProofs()
    return (
      lostAgent(this.host, this.mayGo) ??
      (this.isFresh ? null : badLastGood(this.host, this.unproved)) ??
      tooOld(this.host) ??
      this.touched() ??
      (this.isConflict ? null : inBothRoots(this.host)) ??
      this.lostWorker(what)
    )
  }

  private stateNow(): HostRootState {
    const states = fittingStates(hostRootSigns(viewOf(observe(this.host, hostRootFacts()))))
    if (states.length !== 1) throw new Error(`M4: ${states.length} states fit: ${states.join(', ')}`)
    return states[0] as HostRootState
  }

  private noteProofs(): void {
    const { disk, agent, ran } = this.host
    if (!disk.exists(agentUnitFile)) this.isFresh = true
    else if (agent.active === 'active' && ran.has(disk.digest(agent.exe) ?? '')) this.isFresh = false
  }

  private touched(): string | null {
    const [before, now] = [this.hostsOwn, hostsOwn(this.host)]
    this.hostsOwn = now
    return now === before || (before === 'absent' && now === openHostsOwn)
      ? null
      : `1.1: /opt/unbounded was ${before} and is ${now}`
  }

  private lostWorker(what: string): string | null {
    const before = this.workerPid
    this.workerPid = this.host.worker.pid
    if (before === 0 || before === this.workerPid || this.mayGo || what === 'went down') return null
    return `W4: the worker was process ${before} and is ${this.workerPid}`
  }
}
