// One host of the lab. Everything done to it is done inside its container.
import type { AgentBuild, AgentRelease } from './agent/build.ts'
import { removeContainer } from './container.ts'
import { docker, execIn, type Output } from './docker.ts'
import type { ImageName } from './images.ts'
import { processStart } from './processes.ts'
import { sshAnswers, until } from './wait.ts'

type AgentKind = AgentRelease | AgentBuild | 'none'
type Layout = 'legacy' | 'linked' | 'moved' | 'plain'
type WorkerKind = 'real' | 'sleep' | 'none'

/** What a host is to be. It is kept in a label of the container, so that another process can take the host up again. */
export interface HostSpec {
  name: string
  image: ImageName
  /** The agent's release, installed, enabled and running: one of the lab's, or any build. Default: none. */
  agent?: AgentKind
  /**
   * Where the agent's files lie and how (domain.md 6.1): `plain` is a release before the slots. Default: under the host root
   * where /usr is read-only, else `legacy`, which a release that knows the host root makes `linked` by itself.
   */
  layout?: Layout
  /** Which unit the agent has. Default: host. */
  variant?: 'host' | 'container'
  /** kube1: a booted nspawn machine, its unit around `sleep infinity`, or nothing. Default: none. */
  worker?: WorkerKind
  /** The source of offline artifacts that config.json names. Default: online. */
  offline?: string
  /** kube1 starts through the agent's hooks (domain.md 3.5), which run the lifecycle helper. Needs an agent and a worker. */
  hooks?: true
  /** The LocalDNS network (domain.md 3.6): unit, helper, nft table, interface. Needs an agent. */
  localdns?: true
  /** As Ignition provisioned it: the first-boot unit is enabled and active, and its files still lie there. */
  firstBoot?: true
}

/** What `systemctl show` says of a unit: every property asked for, empty where systemd has nothing to say. */
export interface UnitState {
  LoadState: string
  ActiveState: string
  SubState: string
  UnitFileState: string
  Result: string
  MainPID: string
  InvocationID: string
  NRestarts: string
  FragmentPath: string
  Wants: string
  NeedDaemonReload: string
}

const UNIT_PROPERTIES =
  'LoadState,ActiveState,SubState,UnitFileState,Result,MainPID,InvocationID,NRestarts,FragmentPath,Wants,NeedDaemonReload'
export const AGENT_UNIT = 'aks-flex-node-agent.service'
export const WORKER_UNIT = 'systemd-nspawn@kube1.service'
const BOOT_MS = 60_000
const REBOOT_MS = 120_000 // a real worker may take its time to stop
const SCRIPT_S = 120

export class LabHost {
  readonly id: string
  readonly spec: HostSpec
  readonly address: string

  constructor(id: string, spec: HostSpec, address: string) {
    this.id = id
    this.spec = spec
    this.address = address
  }

  get name(): string {
    return this.spec.name
  }

  /** Who logs in over SSH. On an acl-like host root may too, but there an operator is `core` and uses sudo. */
  get user(): string {
    return this.spec.image.startsWith('acl-like') ? 'core' : 'root'
  }

  get layout(): Layout {
    // Azure Container Linux cannot write to /usr.
    return this.spec.layout ?? (this.spec.image.startsWith('acl-like') ? 'moved' : 'legacy')
  }

  /** Below which the agent's files lie. */
  get agentRoot(): string {
    return this.layout === 'moved' ? '/opt/unbounded/agent' : '/usr/local'
  }

  /** The host as drover's inventory has it. */
  get inventoryEntry(): { address: string; user: string; become?: true } {
    return { address: this.address, user: this.user, ...(this.user === 'root' ? {} : { become: true }) }
  }

  /** Run a script of POSIX sh as root inside the host, `args` being its $1 and so on. Ends after two minutes at the latest (code 124). */
  async sh(
    script: string,
    args: readonly string[] = [],
    options: { stdin?: Uint8Array | string; timeoutS?: number } = {},
  ): Promise<Output> {
    const limit = options.timeoutS ?? SCRIPT_S
    const argv = ['timeout', '-k', '5', String(limit), '/bin/sh', '-c', script, 'lab', ...args]
    return execIn(this.id, argv, { stdin: options.stdin, timeoutMs: (limit + 15) * 1000 })
  }

  /** As `sh`, but a failure is an error. Returns the standard output without its last newlines. */
  async must(
    script: string,
    args: readonly string[] = [],
    options: { stdin?: Uint8Array | string; timeoutS?: number } = {},
  ): Promise<string> {
    const ran = await this.sh(script, args, options)
    if (ran.code !== 0)
      throw new Error(
        `on ${this.name}, \`${script.slice(0, 200)}\` ended with ${ran.code}: ${ran.stderr.slice(-2000) || ran.stdout.slice(-2000)}`,
      )
    return ran.stdout.replace(/\n+$/, '')
  }

  /** Put a file on the host. */
  async put(path: string, content: Uint8Array | string, mode = '0644'): Promise<void> {
    await this.must('mkdir -p "$(dirname "$1")" && cat >"$1" && chmod "$2" "$1"', [path, mode], { stdin: content })
  }

  async unit(name: string): Promise<UnitState> {
    const shown = await this.must('systemctl show --no-pager -p "$2" -- "$1"', [name, UNIT_PROPERTIES])
    return Object.fromEntries(
      shown.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ) as unknown as UnitState
  }

  /**
   * When this boot's PID 1 started, in clock ticks, as /proc/1/stat says inside. The kernel's boot id is this machine's and does not change
   * at a reboot in the lab. Looked up from outside: a `docker exec` running while systemd shuts down is no child of PID 1, whose last
   * step then waits 10 s for the news of its death.
   */
  async pid1Start(): Promise<string> {
    const { State } = await (await docker()).getContainer(this.id).inspect()
    const start = State.Pid > 0 ? processStart(State.Pid) : undefined
    if (start === undefined) throw new Error(`${this.name} is not running just now (${State.Status})`)
    return start
  }

  /** Wait until the host is up: systemd has finished booting and sshd greets. */
  async untilUp(timeoutMs = BOOT_MS): Promise<void> {
    await until(`${this.name} to finish booting`, timeoutMs, async () => {
      const state = (await this.sh('systemctl is-system-running', [], { timeoutS: 5 })).stdout.trim()
      return state === 'running' || state === 'degraded' ? state : undefined
    })
    await until(`sshd on ${this.name}`, timeoutMs, async () => ((await sshAnswers(this.address)) ? true : undefined))
  }

  /**
   * A real `systemctl reboot`, waited for: about 2 s. The engine doubles its wait before a start whenever the boot before lasted less than
   * 10 s, so a story that reboots a host over and over is slow from the sixth time on.
   */
  async reboot(): Promise<void> {
    const before = await this.pid1Start()
    // The command may be killed by the very reboot it asks for, so its own end says nothing.
    await this.sh('systemctl reboot', [], { timeoutS: 60 }).catch(() => undefined)
    await this.untilRebooted(before)
  }

  /** Wait until PID 1 is another one than the one started at `before`, and the host is up. For reboots that somebody else asked for. */
  async untilRebooted(before: string): Promise<void> {
    await until(`${this.name} to reboot`, REBOOT_MS, async () =>
      (await this.pid1Start()) === before ? undefined : true,
    )
    await this.untilUp()
  }

  /** Make it the stuck node of bug #436: the worker is enabled but nothing starts machines.target at boot. Needs an old agent. */
  async stick(): Promise<void> {
    if (this.spec.agent !== 'old')
      throw new Error(
        `${this.name} has agent ${JSON.stringify(this.spec.agent ?? 'none')}: only an old agent's unit leaves machines.target alone`,
      )
    await this.must('systemctl disable --quiet machines.target && systemctl enable --quiet "$1"', [WORKER_UNIT])
    await this.reboot()
    const [target, worker, agent] = await Promise.all([
      this.unit('machines.target'),
      this.unit(WORKER_UNIT),
      this.unit(AGENT_UNIT),
    ])
    const states = `machines.target ${target.ActiveState}, worker ${worker.ActiveState}, agent ${agent.ActiveState}`
    if (states !== 'machines.target inactive, worker inactive, agent active')
      throw new Error(`${this.name} is not stuck after the reboot: ${states}`)
  }

  /** Stop the worker behind the agent's back. It stays enabled and the target stays active, so no restart of the agent brings it back. */
  async killWorker(): Promise<void> {
    await this.must('systemctl stop "$1"', [WORKER_UNIT])
  }

  /** The host's SSH public keys, read inside the container. */
  async hostKeys(): Promise<string[]> {
    return (await this.must('cat /etc/ssh/ssh_host_*_key.pub')).split('\n')
  }

  /** The end of its journal and console, for error messages. */
  async lastWords(): Promise<string> {
    const journal = await this.sh('systemctl --failed --no-legend; journalctl --no-pager -n 30', [], {
      timeoutS: 10,
    }).catch(() => undefined)
    const console = await (await docker()).getContainer(this.id).logs({ stdout: true, stderr: true, tail: 20 })
    return `${journal?.stdout ?? '(its journal cannot be read)'}\n${console.toString()}`
  }

  /** End the host: its container is removed with all that was on it. */
  async stop(): Promise<void> {
    await removeContainer(this.id)
  }
}
