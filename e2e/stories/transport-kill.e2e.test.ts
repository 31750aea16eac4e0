import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { type DroverProcess, drover, startDrover } from '../support/drover.ts'
import { isFull } from '../support/full.ts'
import { hostsFile } from '../support/sshd.ts'
import { DROP_IN } from '../support/units.ts'

/**
 * Story: drover is killed or interrupted at events all along a remediate run. Wherever it was, running it again brings the
 * host where it should be, and nothing of drover is left: no process on either side, no lock, no file.
 */

const short = ['-e', 'stable_s=1', '-e', 'within_s=20']

/**
 * How drover is ended, and what it must end with: a code, or null for a signal, which a Ctrl-C is to a drover that has
 * told of its end and is about to leave.
 */
const ends = {
  'kill -9': { host: 'killed', codes: [null], end: async (run: DroverProcess) => void run.child.kill('SIGKILL') },
  'Ctrl-C': {
    host: 'interrupted',
    codes: [0, 130, null],
    end: async (run: DroverProcess) => run.interrupt('interrupted'),
  },
  'Ctrl-C twice': {
    host: 'stopped',
    codes: [0, 130, null],
    end: async (run: DroverProcess) => {
      await run.interrupt('interrupted')
      await run.interrupt('interrupted again')
    },
  },
} as const

let lab: Lab
const hosts = new Map<string, LabHost>()

beforeAll(async () => {
  lab = await openLab('transport-kill', { yes: true })
  const boot = async (name: string, image: 'rhel9-like' | 'ubuntu-like'): Promise<void> => {
    const host = await lab.boot({ name, image, agent: 'old', worker: 'sleep' })
    await host.must('systemctl start machines.target')
    hosts.set(name, host)
  }
  await Promise.all([boot('killed', 'rhel9-like'), boot('interrupted', 'ubuntu-like'), boot('stopped', 'rhel9-like')])
})

afterAll(() => lab?.close())

/** The worker is dead and the next boot would not start it; and minutes have passed, after which a dead run
 * holds nothing and will not come back for its result. */
const breakHost = (host: LabHost): Promise<string> =>
  host.must(
    'systemctl stop "$1"; rm -f "$2"; systemctl daemon-reload; [ ! -d /run/drover ] || find /run/drover -exec touch -d "-10 minutes" {} +',
    [WORKER_UNIT, DROP_IN],
  )

const untilIdle = (host: LabHost): Promise<string> =>
  host.must(
    `i=0; while [ -e /run/systemd/transient/drover-apply.service ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
     [ $i -lt 300 ] || exit 1; [ ! -d /run/drover ] || find /run/drover -exec touch -d "-10 minutes" {} +`,
  )

const eventCount = (runs: string): number => {
  try {
    const [run = ''] = readdirSync(runs)
    return readFileSync(join(runs, run, 'events.ndjson'), 'utf8').split('\n').length - 1
  } catch {
    return 0
  }
}

/** Processes of this machine that speak for drover with this host. */
const clients = (host: LabHost): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return /^\d+$/.test(pid) && words.includes('ssh') && words.includes(host.address) ? [words] : []
    } catch {
      return []
    }
  })

/** All that a host is to be, and all that is not to be there, in one look. */
const expectWhole = async (host: LabHost, where: string): Promise<void> => {
  const seen = await host.must(
    `systemctl show --no-pager -p ActiveState --value -- machines.target "$1" "$2" | tr '\\n' ' '
     [ -e "$3" ] && echo wired
     [ ! -e /run/systemd/transient/drover-apply.service ] || echo 'the apply unit'
     pgrep -af '[d]rover' | grep -v -e 'machines.target'
     find /etc /opt /root /run /srv /tmp /usr/local /var -xdev \\( -name '.drover*' -o -path '/run/drover*' \\) -print`,
    [WORKER_UNIT, AGENT_UNIT, DROP_IN],
  )
  expect(seen, where).toBe('active  active  active wired')
  await until('its ssh clients to be gone', 10_000, async () => (clients(host).length === 0 ? true : undefined))
}

/**
 * How many points of a run are tried, spread over all of its events; `npm run test:full` tries every one. A second Ctrl-C
 * waits for what is under way, ten seconds at a time.
 */
const tries = {
  ssh2: { 'kill -9': 8, 'Ctrl-C': 6, 'Ctrl-C twice': 5 },
  openssh: { 'kill -9': 4, 'Ctrl-C': 3, 'Ctrl-C twice': 3 },
} as const

/** Events by number, from the first to the last. */
const pointsOf = (events: number, wanted: number): number[] => {
  const count = isFull ? events : Math.min(wanted, events)
  return Array.from({ length: count }, (_, index) => 1 + Math.round((index * (events - 1)) / Math.max(count - 1, 1)))
}

describe.each(['ssh2', 'openssh'] as const)('by %s', (transport) => {
  test.concurrent.each(Object.entries(ends))(
    '%s at events all along: running it again converges, and leaves nothing',
    async (name, { host: hostName, codes, end }) => {
      const host = hosts.get(hostName) as LabHost
      const inventory = hostsFile(lab, `${hostName}-${transport}`, { [hostName]: host.inventoryEntry }, { transport })
      const args = ['run', 'remediate', ...short]
      await breakHost(host)
      const whole = await drover(lab, args, { inventory })
      expect(whole.code, whole.stdout + whole.stderr).toBe(0)
      await expectWhole(host, 'a run that nobody ends')
      const points = pointsOf(whole.events.length, tries[transport][name as keyof typeof ends])
      for (const point of points) {
        const where = `${name} at event ${point} (${whole.events[point - 1]?.type})`
        await breakHost(host)
        const run = startDrover(lab, args, { inventory })
        while (eventCount(run.runs) < point && !run.isOver()) await new Promise((r) => setTimeout(r, 5))
        await end(run)
        const ended = await run.ended
        expect([...codes, 0], `${where}: ${ended.stderr}`).toContain(ended.code)
        await untilIdle(host)
        const again = await drover(lab, args, { inventory })
        expect(again.code, `${where}:\n${again.stdout}${again.stderr}`).toBe(0)
        await expectWhole(host, where)
      }
      process.stdout.write(
        `${name} by ${transport}: ${points.length} of ${whole.events.length} kill points tried, all converged, nothing left\n`,
      )
    },
    isFull ? 3_600_000 : 900_000,
  )
})
