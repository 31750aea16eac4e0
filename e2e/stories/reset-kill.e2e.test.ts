import { afterAll, beforeAll, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import type { ImageName } from '../lab/images.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { traces } from '../support/agent-layout.ts'
import { type DroverEnd, type DroverProcess, drover, startDrover } from '../support/drover.ts'
import { freezeAt, thaw, untilFrozen } from '../support/freeze.ts'
import { isFull } from '../support/full.ts'
import { wholeInstallation } from '../support/host-root.ts'
import { everything, extras, named, taken } from '../support/reset.ts'
import { again, plant } from '../support/reset-hosts.ts'
import { age, expectCode } from '../support/upgrade.ts'
import { cut } from '../support/wire.ts'

/**
 * Story: drover is killed, its connection cut or its host rebooted at changes of a reset and of an uninstall. Each time the host
 * is left alone until nothing goes on there: an agent that runs then is whole, and the next run ends what was begun.
 */

const troubles = {
  'kill -9': { isOver: false, make: async (_host: LabHost, run: DroverProcess) => void run.child.kill('SIGKILL') },
  cut: { isOver: false, make: async (host: LabHost) => void (await cut(host)) },
  reboot: { isOver: true, make: (host: LabHost) => host.reboot() },
} as const
type Trouble = keyof typeof troubles
type Playbook = 'reset' | 'uninstall'

const lanes: readonly (readonly [Trouble, ImageName, 'linked' | 'moved'])[] = [
  ['kill -9', 'rhel9-like', 'linked'],
  ['cut', 'ubuntu-like', 'moved'],
  ['reboot', 'rhel9-like', 'linked'],
]
/** How many points of each playbook are tried; `npm run test:full` tries all. */
const tries = { reset: 2, uninstall: 1 } as const

/** Change `change` of apply number `apply` of a run. */
interface Point {
  readonly playbook: Playbook
  readonly apply: number
  readonly change: number
  readonly what: string
}

let lab: Lab
const hosts = new Map<string, LabHost>()
const tally = { points: 0, lost: [] as string[] }
const nameOf = (trouble: Trouble): string => `${trouble.replace(' -9', '')}`

beforeAll(async () => {
  lab = await openLab('reset-kill', { yes: true })
  await Promise.all(
    lanes.map(async ([trouble, image, layout]) => {
      const host = await lab.boot({ name: nameOf(trouble), image, agent: 'new', layout, ...extras })
      await plant(host)
      hosts.set(trouble, host)
    }),
  )
})

afterAll(async () => {
  process.stdout.write(`${tally.points} points tried, lost ${tally.lost.length}\n`)
  await lab?.close()
})

const argsOf = (host: LabHost, playbook: Playbook): string[] => [
  ...['run', playbook, '-l', host.name, '-y'],
  ...(playbook === 'uninstall' ? ['--yes-remove-everything'] : []),
]

const pointsOf = (whole: DroverEnd, playbook: Playbook): Point[] => {
  const points: Point[] = []
  let [apply, change] = [1, 0]
  for (const event of whole.events) {
    if (event.type === 'change-started') {
      points.push({ playbook, apply, change, what: event.summary })
      change += 1
    }
    if (event.type === 'exec' && event.verb === 'apply') [apply, change] = [apply + 1, 0]
  }
  return points
}

/** `offset`: no two lanes try the same. */
const spread = (points: readonly Point[], wanted: number, offset: number): Point[] => {
  if (isFull) return [...points]
  const every = points.length / wanted
  return Array.from(
    { length: wanted },
    (_, index) => points[Math.floor((index + offset / lanes.length) * every)] as Point,
  )
}

const shown = ({ playbook, apply, change, what }: Point): string => `${playbook}, change ${apply}.${change} (${what})`

/** The units of an apply and of what ends it. */
const untilQuiet = (host: LabHost): Promise<unknown> =>
  until(`drover's work on ${host.name} to be over`, 90_000, async () =>
    (await host.must('cd /run/systemd/transient 2>/dev/null && ls | grep "^drover-" || :')) === '' ? true : undefined,
  )

/** Whatever of it is left: it does not run half removed. */
const expectWholeOrDown = async (host: LabHost, where: string): Promise<string> => {
  const { ActiveState: active } = await host.unit(AGENT_UNIT)
  if (active !== 'active') {
    expect(['inactive', 'failed'], where).toContain(active)
    return active
  }
  expect(await wholeInstallation(host), where).toEqual([])
  const there = await taken(host)
  const own = everything(host.agentRoot, { firstBoot: false }).filter(
    // What only a boot brings, and a boot of the lab does not.
    (path) => !['table ip unbounded_localdns', 'interface localdns', '/run/bpffs/kube1'].includes(path),
  )
  expect(there, where).toEqual(expect.arrayContaining(own))
  return active
}

const tryPoint = async (host: LabHost, trouble: Trouble, point: Point): Promise<void> => {
  const where = `${trouble} at ${shown(point)} on ${host.name}`
  tally.points += 1
  try {
    await again(host)
    await freezeAt(host, point.change, point.apply)
    const run = startDrover(lab, argsOf(host, point.playbook))
    await Promise.race([
      untilFrozen(host),
      run.ended.then(({ stdout, stderr }) => {
        throw new Error(`drover ended before the change was made:\n${stdout}${stderr}`)
      }),
    ])
    await troubles[trouble].make(host, run)
    if (!troubles[trouble].isOver) await thaw(host)
    const ended = await run.ended
    await host.untilUp()
    await untilQuiet(host)
    // A run that has said that it was done, was.
    if (ended.code === 0) expect(await taken(host), where).toEqual([])
    else await expectWholeOrDown(host, where)
    await age(host)
    expectCode(await drover(lab, argsOf(host, point.playbook)), 0)
    // A worker's bpffs that a cut reset has left stays until the next boot.
    expect(
      (await taken(host)).filter((path) => path !== '/run/bpffs/kube1'),
      where,
    ).toEqual([])
    expect(await traces(host), where).toBe('')
    if (point.playbook === 'uninstall') expect(await named(host), where).toEqual([])
    const second = await drover(lab, argsOf(host, point.playbook))
    expect(second.host(host.name), where).toMatchObject({ outcome: 'unchanged' })
  } catch (error) {
    tally.lost.push(where)
    throw new Error(where, { cause: error })
  }
}

test.concurrent.each(lanes)(
  '11.49 %s on %s, along a reset and an uninstall',
  async (trouble) => {
    const host = hosts.get(trouble) as LabHost
    const offset = lanes.findIndex(([other]) => other === trouble)
    const resets = await drover(lab, argsOf(host, 'reset'))
    expectCode(resets, 0)
    // What an uninstall does besides, on a host that was reset.
    const rest = await drover(lab, argsOf(host, 'uninstall'))
    expectCode(rest, 0)
    const ofReset = pointsOf(resets, 'reset')
    const last = Math.max(...ofReset.map(({ apply }) => apply))
    const ofUninstall = pointsOf(rest, 'uninstall').map((point) => ({ ...point, apply: point.apply + last }))
    expect(ofUninstall.length).toBeGreaterThan(5)
    for (const point of [...spread(ofReset, tries.reset, offset), ...spread(ofUninstall, tries.uninstall, offset)])
      await tryPoint(host, trouble, point)
  },
  isFull ? 3_600_000 : 900_000,
)
