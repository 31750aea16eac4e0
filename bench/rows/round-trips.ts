import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { docker } from '../../e2e/lab/docker.ts'
import type { LabHost } from '../../e2e/lab/host.ts'
import { openLab } from '../../e2e/lab/lab.ts'
import type { Bench, Row } from '../bench.ts'
import { droverCommand } from '../bench.ts'
import { explained } from '../bounds.ts'
import { mustReachAll } from '../drover-runs.ts'
import { type Figure, notMeasured, within } from '../figure.ts'
import { farEnd, openLine } from '../line/line.ts'
import { median } from '../measured.ts'
import { benchFolder, root } from '../place.ts'

const rttMs = 100
const admin = 'benchadmin'
const journals = '/tmp/trips'

const kinds = [
  { name: 'no changes, as root', playbook: 'checks-drover.yaml', user: 'root', limit: 10 },
  { name: 'ten changes, as root', playbook: 'changes-drover.yaml', user: 'root', limit: 15 },
  { name: 'ten changes, with sudo', playbook: 'changes-drover.yaml', user: admin, limit: 17 },
] as const

const whatOf = (name: string): string =>
  `round trips to one host, ${rttMs} ms away, from TCP connect to result: ten steps, ${name}`

/** How often a run waits for the way there and back: what it takes longer when that way takes 100 ms. */
export const roundTrips: Row = {
  name: 'round-trips',
  about:
    'A host with systemd behind a wire of its own: two TUN devices and a program that holds every packet ' +
    "back for 50 ms each way, so that TCP's windows count. From just before the TCP connect to the " +
    "outcome, as the run's journal has it; the time without the delay is taken off, and the rest divided " +
    'by 100 ms.',
  measure: async (bench: Bench): Promise<Figure[]> => {
    if (process.getuid?.() !== 0)
      return kinds.map(({ name, limit }) =>
        notMeasured(whatOf(name), `≤ ${limit}`, 'the delayed wire needs root on this machine'),
      )
    const lab = await openLab('bench', { yes: true })
    try {
      const host = await lab.boot({ name: 'far', image: 'rhel9-like' })
      await host.must(
        'useradd -m "$1" && echo "$1 ALL=(root) NOPASSWD: ALL" >/etc/sudoers.d/bench && mkdir -p "/home/$1/.ssh" && cp /root/.ssh/authorized_keys "/home/$1/.ssh/" && chown -R "$1:" "/home/$1/.ssh"',
        [admin],
      )
      const folder = benchFolder('far')
      const keys = (await host.hostKeys()).map((line) => `${farEnd} ${line.split(' ').slice(0, 2).join(' ')}\n`)
      writeFileSync(join(folder, 'known_hosts'), keys.join(''))
      const { State } = await (await docker()).getContainer(host.id).inspect()
      const line = await openLine(bench.client.pid, State.Pid)
      try {
        const figures: Figure[] = []
        for (const kind of kinds)
          figures.push(await countTrips(bench, host, { kind, line, folder, keyFile: lab.key.file }))
        return await explained(figures, async () => [
          'a connection and one command take nine: TCP 1, versions and key exchange 3, login 3, channel and command 2',
        ])
      } finally {
        await line.close()
      }
    } finally {
      await lab.close()
    }
  },
}

interface Trips {
  readonly kind: (typeof kinds)[number]
  readonly line: Awaited<ReturnType<typeof openLine>>
  readonly folder: string
  readonly keyFile: string
}

const countTrips = async (bench: Bench, host: LabHost, { kind, line, folder, keyFile }: Trips): Promise<Figure> => {
  const { client, runs } = bench
  const command = droverCommand(bench, [
    ...['run', join(root, 'bench/peers', kind.playbook), '-i', `${kind.user}@${farEnd},`, '--runs-dir', journals],
    ...['--private-key', keyFile, '--known-hosts', join(folder, 'known_hosts'), ...(kind.user === admin ? ['-b'] : [])],
  ])
  /** From just before the TCP connect to the outcome; starting Node and taking leave of the server are no part of it. */
  const once = async (oneWayMs: number): Promise<number> => {
    await host.must('rm -rf /srv/bench && mkdir -p /srv/bench')
    await client.must('rm -rf "$1"', [journals])
    await line.delay(oneWayMs)
    mustReachAll(await client.measure(command), 1)
    const ended = await client.must('cat "$1"/*/events.ndjson | grep host-ended', [journals])
    return (JSON.parse(ended) as { ms: number }).ms
  }
  const trips: number[] = []
  await once(0)
  for (let run = 0; run < runs; run += 1) {
    const near = await once(0)
    const far = await once(rttMs / 2)
    trips.push((far - near) / rttMs)
    process.stderr.write(`bench:   ${kind.name}: ${near} and ${far} ms\n`)
  }
  return within(kind.limit, { what: whatOf(kind.name), measured: median(trips), unit: '', digits: 1 })
}
