import { afterAll, beforeAll, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import type { ImageName } from '../lab/images.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { type DroverEnd, type DroverProcess, startDrover } from '../support/drover.ts'
import { freezeAt, thaw, untilFrozen } from '../support/freeze.ts'
import { isFull } from '../support/full.ts'
import { type RootState, rootState, wholeInstallation } from '../support/host-root.ts'
import {
  eagerStarts,
  expectMoved,
  hostStatus,
  leaderOf,
  migrate,
  migrateArgs,
  readyToMove,
  runsUnmoved,
  untilQuiet,
} from '../support/migrate.ts'
import { shortGate } from '../support/moving-agent.ts'
import { age, expectCode } from '../support/upgrade.ts'
import { cut } from '../support/wire.ts'

/**
 * Story: a move to the new root is cut at every change of both of its passes and after every remote command: drover or its
 * apply is killed, the connection cut, the host rebooted, the agent killed. Each time what the unit runs is a whole
 * installation, status knows the state, the worker runs on, and running drover again ends with the host MOVED (domain.md 6.7).
 */

/** What is done, and whether something of drover's then still goes on on the host. */
const troubles = {
  'kill -9': { isOver: false, make: async (_host: LabHost, run: DroverProcess) => void run.child.kill('SIGKILL') },
  cut: { isOver: false, make: async (host: LabHost) => void (await cut(host)) },
  reboot: { isOver: true, make: (host: LabHost) => host.reboot() },
  'agent killed': {
    isOver: false,
    make: async (host: LabHost) => void (await host.sh('systemctl kill -s KILL "$1"', [AGENT_UNIT])),
  },
  'apply killed': {
    isOver: true,
    make: async (host: LabHost) => void (await host.sh('systemctl kill -s KILL drover-apply.service')),
  },
} as const
type Trouble = keyof typeof troubles
/** `moves`: an agent that makes the move itself at its next start, beside drover. */
type Lane = readonly [trouble: Trouble, image: ImageName, agent: 'waits' | 'moves']

const sampled: readonly Lane[] = [
  ['kill -9', 'rhel9-like', 'waits'],
  ['reboot', 'ubuntu-like', 'waits'],
  ['apply killed', 'rhel9-like', 'waits'],
  ['agent killed', 'ubuntu-like', 'moves'],
]
const others: readonly Lane[] = [
  ['cut', 'rhel9-like', 'waits'],
  ['reboot', 'rhel9-like', 'moves'],
  ['apply killed', 'ubuntu-like', 'moves'],
  ['agent killed', 'rhel9-like', 'waits'],
  ['cut', 'ubuntu-like', 'moves'],
]
const lanes = isFull ? [...sampled, ...others] : sampled
/** How many points of a run are tried; `npm run test:full` tries all. From the sixth on a reboot takes its time. */
const triesOf = (trouble: Trouble): number => (trouble === 'reboot' ? 3 : 4)

/** While change `change` of the nth apply is being made (it has not been), or when a remote command is over. */
type Point =
  | { readonly change: number; readonly what: string; readonly nth: number }
  | { readonly command: string; readonly nth: number }

let lab: Lab
const hosts = new Map<string, LabHost>()
/** `missed`: drover was over before the trouble could be made, as where the agent had overtaken it. */
const tally = { points: 0, missed: 0, lost: [] as string[] }
const nameOf = ([trouble, image, agent]: Lane): string =>
  `${trouble.replace(/[^a-z]/g, '').slice(0, 6)}-${image.slice(0, 4)}-${agent}`

beforeAll(async () => {
  lab = await openLab('migrate-kill', { yes: true })
  await Promise.all(
    lanes.map(async (lane) => {
      const spec = { agent: 'new', layout: 'linked', worker: 'sleep', hooks: true, localdns: true } as const
      const host = await lab.boot({ name: nameOf(lane), image: lane[1], ...spec })
      await eagerStarts(host)
      hosts.set(host.name, host)
    }),
  )
})

afterAll(async () => {
  process.stdout.write(`${tally.points} points tried, lost ${tally.lost.length}; ${tally.missed} not reached\n`)
  await lab?.close()
})

/** In the order of the run; the first change of the first apply is 0, and so is that of the second. */
const pointsOf = (whole: DroverEnd): Point[] => {
  const points: Point[] = []
  const seen = new Map<string, number>()
  const changes: string[] = []
  for (const event of whole.events) {
    if (event.type === 'change-started') changes.push(event.summary)
    if (event.type !== 'exec') continue
    const nth = seen.get(event.verb) ?? 0
    if (event.verb === 'apply') points.push(...changes.splice(0).map((what, change) => ({ change, what, nth })))
    points.push({ command: event.verb, nth })
    seen.set(event.verb, nth + 1)
  }
  return points
}

/** Every lane begins elsewhere, so that together they see more than one does. */
const spread = (points: readonly Point[], [trouble]: Lane, lane: number): Point[] => {
  const tries = triesOf(trouble)
  if (isFull || points.length <= tries) return [...points]
  const step = points.length / tries
  return Array.from({ length: tries }, (_, index) => points[Math.floor((index + lane / lanes.length) * step)] as Point)
}

const shown = (point: Point): string =>
  'what' in point
    ? `at change ${point.change} of apply ${point.nth} (${point.what})`
    : `after ${point.command} ${point.nth}`

const commandsOver = (run: DroverProcess, verb: string): number =>
  run.events().filter((event) => event.type === 'exec' && event.verb === verb).length

const untilOver = (run: DroverProcess, verb: string, count: number, what: string): Promise<unknown> =>
  until(
    `drover to be there: ${what}`,
    90_000,
    async () => run.isOver() || commandsOver(run, verb) >= count || undefined,
    10,
  )

/** Runs drover, makes the trouble at the point, and returns when drover is over, and how the host looked just before. */
const runInto = async (
  host: LabHost,
  trouble: Trouble,
  point: Point,
): Promise<{ ended: DroverEnd; held: RootState | null; isMade: boolean }> => {
  const { make, isOver } = troubles[trouble]
  const isChange = 'what' in point
  if (isChange) await freezeAt(host, point.change, point.nth + 1)
  const run = startDrover(lab, migrateArgs(host))
  let held: RootState | null = null
  let isMade = true
  if (isChange) {
    // An agent that moves by itself may have left drover nothing to do here.
    isMade = await Promise.race([untilFrozen(host).then(() => true), run.ended.then(() => false)])
    if (isMade) {
      held = await rootState(host)
      await make(host, run)
      if (!isOver) await thaw(host)
    } else await host.sh('systemctl stop story-freezer.service')
  } else {
    await untilOver(run, point.command, point.nth + 1, shown(point))
    isMade = !run.isOver() || trouble === 'reboot' || trouble === 'agent killed'
    if (isMade) await make(host, run)
  }
  return { ended: await run.ended, held, isMade }
}

/** An agent in the middle of its own move is let alone, so a person would run it once more. */
const toItsEnd = async (host: LabHost, runs = 3): Promise<DroverEnd> => {
  const ended = await migrate(lab, host)
  const isOvertaken = ['drifted', 'activation-locked'].includes(ended.host(host.name).error?.code ?? '')
  return isOvertaken && runs > 1 && host.name.endsWith('moves') ? toItsEnd(host, runs - 1) : ended
}

const tryPoint = async (host: LabHost, [trouble, , agent]: Lane, point: Point): Promise<void> => {
  const where = `${trouble} ${shown(point)} on ${host.name}`
  if (agent === 'moves') {
    await shortGate(host, 1, 1)
    await runsUnmoved(host)
  } else await readyToMove(host)
  const leader = await leaderOf(host)
  const { ended, held, isMade } = await runInto(host, trouble, point)
  // Where nobody but drover moves the host every change is come to.
  if (agent === 'waits' && 'what' in point) expect(isMade, `${where}\n${ended.stdout}${ended.stderr}`).toBe(true)
  tally[isMade ? 'points' : 'missed'] += 1
  try {
    await host.untilUp()
    await untilQuiet(host, 90_000)
    // An agent that starts just now may be making a step of its own.
    await until(`a whole agent, ${where}`, 20_000, async () => {
      const faults = await wholeInstallation(host)
      if (faults.length > 0) throw new Error(faults.join('; '))
      return true
    })
    if (held !== null) expect(held.whole.length, `${where}: ${JSON.stringify(held)}`).toBeGreaterThan(0)
    const { hostRoot } = await hostStatus(lab, host)
    expect(hostRoot, where).not.toMatch(/UNREADABLE|BLOCKED|CONFLICT|ABSENT|ORPHAN/)
    const now = await leaderOf(host)
    expect(now, where).not.toBe('0')
    if (trouble !== 'reboot') expect(now, where).toBe(leader)
    await age(host)
    expectCode(await toItsEnd(host), 0)
    await expectMoved(host, where)
  } catch (error) {
    tally.lost.push(where)
    throw new Error(`${where}\n${ended.stdout}${ended.stderr}`, { cause: error })
  }
}

test.concurrent.each(lanes)(
  '11.30 %s on %s while its agent %s, all along a move',
  async (...lane) => {
    const host = hosts.get(nameOf(lane)) as LabHost
    // What drover has to do where nothing else does anything.
    await readyToMove(host)
    const whole = await migrate(lab, host)
    expectCode(whole, 0)
    await expectMoved(host)
    // Between its applies there is none to kill.
    const points = pointsOf(whole).filter((point) => lane[0] !== 'apply killed' || 'what' in point)
    for (const point of spread(
      points,
      lane,
      lanes.findIndex((one) => nameOf(one) === host.name),
    ))
      await tryPoint(host, lane, point)
  },
  isFull ? 3_600_000 : 600_000,
)
