import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import type { ImageName } from '../lab/images.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { layoutOf, untilSettled } from '../support/agent-layout.ts'
import { type DroverEnd, type DroverProcess, drover, startDrover } from '../support/drover.ts'
import { freezeAt, thaw, untilFrozen } from '../support/freeze.ts'
import { isFull } from '../support/full.ts'
import { agentArgs, type ReleaseVar, releaseVar } from '../support/releases.ts'
import { age, expectCode, expectRuns } from '../support/upgrade.ts'
import { cut } from '../support/wire.ts'

/**
 * Story: drover is killed, its connection cut or its host rebooted at every change of an upgrade and of a rollback, and at
 * every remote command around them. Each time the host is left alone until it has settled: it runs a whole agent, the new
 * one or the one before, and running drover again brings it where it should be, with nothing left behind.
 */

const short = ['-e', 'stable_s=1', '-e', 'within_s=4', '-e', 'confirm_within_s=12', '-e', 'worker_stable_s=1']
/** The countdown, and what a host may then take to go back and to be booted. */
const settledMs = 12_000 + 40_000

/** `isOver`: nothing on the host goes on, so nothing has to be let through. */
const troubles = {
  'kill -9': { isOver: false, make: async (_host: LabHost, run: DroverProcess) => void run.child.kill('SIGKILL') },
  cut: { isOver: false, make: async (host: LabHost) => void (await cut(host)) },
  reboot: { isOver: true, make: (host: LabHost) => host.reboot() },
} as const
type Trouble = keyof typeof troubles

const sampled: readonly (readonly [Trouble, ImageName])[] = [
  ['kill -9', 'rhel9-like'],
  ['cut', 'ubuntu-like'],
  ['reboot', 'rhel9-like'],
]
const others: readonly (readonly [Trouble, ImageName])[] = [
  ['kill -9', 'ubuntu-like'],
  ['cut', 'rhel9-like'],
  ['reboot', 'ubuntu-like'],
]
const lanes = isFull ? [...sampled, ...others] : sampled
/** Of the release that hosts of the lab are provisioned with. */
const provisioned = 'v0.3.0'
/** How many points of each run are tried; `npm run test:full` tries all. */
const tries = { upgrade: 5, rollback: 3 } as const

/** While change `change` is being made (it has not been), or when a remote command is over. */
type Point = { readonly change: number; readonly what: string } | { readonly command: string; readonly nth: number }

let lab: Lab
let candidate: ReleaseVar
const hosts = new Map<string, LabHost>()
const tally = { points: 0, hosts: [] as string[], agents: [] as string[] }
const nameOf = ([trouble, image]: readonly [Trouble, ImageName]): string =>
  `${trouble.replace(' -9', '')}-${image.slice(0, 4)}`

beforeAll(async () => {
  lab = await openLab('upgrade-kill', { yes: true })
  candidate = await releaseVar(lab, { version: 'v0.4.0' })
  await Promise.all(
    lanes.map(async (lane) => {
      const host = await lab.boot({ name: nameOf(lane), image: lane[1], agent: 'new', worker: 'sleep' })
      hosts.set(host.name, host)
    }),
  )
})

afterAll(async () => {
  const { points, hosts, agents } = tally
  process.stdout.write(`${points} points tried, hosts lost ${hosts.length}, agents lost ${agents.length}\n`)
  await lab?.close()
})

/** The slot that nothing leads to is emptied, so that every upgrade brings the binary anew. */
const emptyIdleSlot = (host: LabHost): Promise<string> =>
  host.must(`cd /usr/local/lib/aks-flex-node; for slot in blue green; do
    case $(readlink aks-flex-node-current aks-flex-node-last-good) in *-$slot*) ;; *) rm -f "aks-flex-node-$slot" ;; esac
  done`)

const argsOf = (host: LabHost, wanted: Wanted): string[] => [
  'run',
  wanted.direction,
  '-l',
  host.name,
  ...short,
  ...(wanted.direction === 'upgrade' ? agentArgs(candidate) : ['-e', 'host_root_since=v0.3.0']),
]

interface Wanted {
  readonly direction: 'upgrade' | 'rollback'
  /** What the host then runs, and what it runs until then. */
  readonly version: string
  readonly from: string
}

const pointsOf = (whole: DroverEnd): Point[] => {
  const changes = whole.events.flatMap((event) => (event.type === 'change-started' ? [event.summary] : []))
  const commands = whole.events.flatMap((event) => (event.type === 'exec' ? [event.verb] : []))
  const nth = commands.map((command, index) => commands.slice(0, index).filter((other) => other === command).length)
  const around: Point[] = commands.map((command, index) => ({ command, nth: nth[index] ?? 0 }))
  const at = commands.indexOf('apply')
  return [...around.slice(0, at), ...changes.map((what, change) => ({ change, what })), ...around.slice(at)]
}

const spread = (points: readonly Point[], wanted: number): Point[] => {
  const count = isFull ? points.length : Math.min(wanted, points.length)
  return Array.from(
    { length: count },
    (_, index) => points[Math.round((index * (points.length - 1)) / Math.max(count - 1, 1))] as Point,
  )
}

const shown = (point: Point): string =>
  'what' in point ? `at change ${point.change} (${point.what})` : `after ${point.command}`

const neverHeldUp = ({ stdout, stderr }: DroverEnd): never => {
  throw new Error(`drover ended before the change was made:\n${stdout}${stderr}`)
}

/** Runs drover, makes the trouble at the point, and returns when drover is over. */
const runInto = async (host: LabHost, wanted: Wanted, trouble: Trouble, point: Point): Promise<DroverEnd> => {
  const { make, isOver } = troubles[trouble]
  if ('what' in point) await freezeAt(host, point.change)
  const run = startDrover(lab, argsOf(host, wanted))
  if ('what' in point) {
    await Promise.race([untilFrozen(host), run.ended.then(neverHeldUp)])
    // Whatever becomes of it now: what is not proved yet is never the one to go back to (U1).
    if (wanted.direction === 'upgrade') expect((await layoutOf(host)).lastGoodVersion, shown(point)).toBe(wanted.from)
    await make(host, run)
    if (!isOver) await thaw(host)
  } else {
    const isThere = (): boolean =>
      run.events().filter((event) => event.type === 'exec' && event.verb === point.command).length > point.nth
    await until(`drover to be there: ${shown(point)}`, 90_000, async () => run.isOver() || isThere() || undefined, 10)
    await make(host, run)
  }
  return run.ended
}

const tryPoint = async (host: LabHost, wanted: Wanted, trouble: Trouble, point: Point): Promise<void> => {
  const where = `${wanted.direction}, ${trouble} ${shown(point)} on ${host.name}`
  tally.points += 1
  const ended = await runInto(host, wanted, trouble, point)
  try {
    await host.untilUp()
  } catch (error) {
    tally.hosts.push(where)
    throw error
  }
  try {
    const seen = await untilSettled(host, settledMs)
    expect([wanted.from, wanted.version], where).toContain(seen.version)
    // A run that has said that it was done, was.
    if (ended.code === 0) expect(seen.version, where).toBe(wanted.version)
    if (ended.code === 7) expect(seen.version, where).toBe(wanted.from)
  } catch (error) {
    tally.agents.push(where)
    throw new Error(`${where}: the agent is not whole\n${ended.stdout}${ended.stderr}`, { cause: error })
  }
  await age(host)
  const again = await drover(lab, argsOf(host, wanted))
  expect(again.code, `${where}, again:\n${again.stdout}${again.stderr}`).toBe(0)
  await expectRuns(host, wanted.version, where)
}

test.concurrent.each(lanes)(
  '11.44 %s on %s, all along an upgrade and a rollback',
  async (...lane) => {
    const [trouble] = lane
    const host = hosts.get(nameOf(lane)) as LabHost
    const forth: Wanted = { direction: 'upgrade', version: candidate.version, from: provisioned }
    const back: Wanted = { direction: 'rollback', version: provisioned, from: candidate.version }
    await emptyIdleSlot(host)
    const [upgrades, rollbacks] = [await drover(lab, argsOf(host, forth)), await drover(lab, argsOf(host, back))]
    for (const run of [upgrades, rollbacks]) expectCode(run, 0)
    const plan = {
      upgrade: spread(pointsOf(upgrades), tries.upgrade),
      rollback: spread(pointsOf(rollbacks), tries.rollback),
    }
    // Each way leads to where the other begins; where one has fewer points it is simply gone.
    for (let index = 0; index < Math.max(plan.upgrade.length, plan.rollback.length); index += 1) {
      for (const [wanted, point] of [
        [forth, plan.upgrade[index]],
        [back, plan.rollback[index]],
      ] as const) {
        if (wanted === forth) await emptyIdleSlot(host)
        if (point === undefined) expectCode(await drover(lab, argsOf(host, wanted)), 0)
        else await tryPoint(host, wanted, trouble, point)
      }
    }
  },
  isFull ? 3_600_000 : 600_000,
)
