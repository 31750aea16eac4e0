import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { type DroverProcess, drover, startDrover } from '../support/drover.ts'
import { hostsFile } from '../support/sshd.ts'
import { DROP_IN, exists, property, states, unwire } from '../support/units.ts'

/**
 * Story: drover is killed or interrupted at every event of a remediate run. Wherever it was, running it again brings the
 * host where it should be, and nothing of drover is left: no process on either side, no lock, no file.
 */

const up = { target: 'active', worker: 'active', agent: 'active' }
const short = ['-e', 'stable_s=1', '-e', 'within_s=20']

/** How drover is ended, and what it must end with: a code, or null for a signal. */
const ends = {
  'kill -9': { host: 'killed', codes: [null], end: async (run: DroverProcess) => void run.child.kill('SIGKILL') },
  'Ctrl-C': { host: 'interrupted', codes: [0, 130], end: async (run: DroverProcess) => run.interrupt('interrupted') },
  'Ctrl-C twice': {
    host: 'stopped',
    codes: [0, 130],
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

/** The worker is dead and the next boot would not start it. */
const breakHost = async (host: LabHost): Promise<void> => {
  await host.killWorker()
  await unwire(host)
  // What a dead run still holds is held for a minute; that minute has passed.
  await host.must('[ ! -f /run/drover/lease ] || touch -d "-2 minutes" /run/drover/lease')
}

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

const remains = (host: LabHost): Promise<string> =>
  host.must(
    'find / -xdev \\( -name ".drover*" -o -path "*/drover/*" -o -name "drover-*" \\) -print; ls -A /run/drover 2>/dev/null || :',
  )

const expectWhole = async (host: LabHost, where: string): Promise<void> => {
  expect(await states(host), where).toEqual(up)
  expect(await exists(host, DROP_IN), where).toBe(true)
  expect(await property(host, 'drover-apply.service', 'LoadState'), where).toBe('not-found')
  expect((await host.sh('pgrep -af "[d]rover"')).stdout, where).toBe('')
  expect(await remains(host), where).toBe('')
  await until('its ssh clients to be gone', 10_000, async () => (clients(host).length === 0 ? true : undefined))
}

describe.each(['ssh2', 'openssh'])('by %s', (transport) => {
  test.concurrent.each(Object.entries(ends))(
    '%s at every event: running it again converges, and leaves nothing',
    async (name, { host: hostName, codes, end }) => {
      const host = hosts.get(hostName) as LabHost
      const inventory = hostsFile(lab, `${hostName}-${transport}`, { [hostName]: host.inventoryEntry }, { transport })
      const args = ['run', 'remediate', ...short]
      await breakHost(host)
      const whole = await drover(lab, args, { inventory })
      expect(whole.code, whole.stdout + whole.stderr).toBe(0)
      await expectWhole(host, 'a run that nobody ends')
      const points = whole.events.length
      for (let point = 1; point <= points; point += 1) {
        const where = `${name} at event ${point} (${whole.events[point - 1]?.type})`
        await breakHost(host)
        const run = startDrover(lab, args, { inventory })
        while (eventCount(run.runs) < point && run.child.exitCode === null) await new Promise((r) => setTimeout(r, 5))
        await end(run)
        const ended = await run.ended
        expect([...codes, 0], `${where}: ${ended.stderr}`).toContain(ended.code)
        await until(`${where}: its apply to end`, 30_000, async () =>
          (await property(host, 'drover-apply.service', 'ActiveState')) === 'inactive' ? true : undefined,
        )
        await host.must('[ ! -f /run/drover/lease ] || touch -d "-2 minutes" /run/drover/lease')
        const again = await drover(lab, args, { inventory })
        expect(again.code, `${where}:\n${again.stdout}${again.stderr}`).toBe(0)
        await expectWhole(host, where)
      }
      process.stdout.write(`${name} by ${transport}: ${points} kill points tried, all converged, nothing left\n`)
    },
    600_000,
  )
})
