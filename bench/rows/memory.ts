import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Row } from '../bench.ts'
import { droverCommand, scaled } from '../bench.ts'
import { mustReachAll } from '../drover-runs.ts'
import { type Figure, within } from '../figure.ts'
import { type BenchHosts, writeHosts } from '../hosts.ts'
import { type Command, type Measured, median } from '../measured.ts'
import { root } from '../place.ts'

const peakFile = '/tmp/peak'
const timeoutMs = 900_000

/** The most memory that a run takes: with many hosts live at once, and with very many one after the other. */
export const memory: Row = {
  name: 'memory',
  about:
    'Peak resident memory of the process as the kernel counts it, in millions of bytes. For the live ' +
    'hosts every command waits until the last host is connected. The fleet is run once, and each of its ' +
    'hosts is looked at.',
  measure: async (bench: Bench): Promise<Figure[]> => {
    const { client, runs } = bench
    const live = writeHosts(scaled(bench, 1000), client.hostKey)
    const liveCount = live.addresses.length
    const held: number[] = []
    for (let run = 0; run < runs; run += 1) {
      held.push(
        await peakOf(bench, runOf(bench, live, liveCount, '/bench/held'), liveCount, () =>
          releaseAll(bench, liveCount),
        ),
      )
    }
    const fleet = writeHosts(scaled(bench, 10_000), client.hostKey)
    const fleetCount = fleet.addresses.length
    // Once: it takes minutes, and its peak hardly moves.
    const all = await peakOf(bench, runOf(bench, fleet, 100, undefined), fleetCount)
    return [
      within(160, { what: `peak memory, ${liveCount} live hosts`, measured: median(held), unit: ' MB' }),
      within(250, { what: `peak memory, ${fleetCount} hosts, all run, 100 forks`, measured: all, unit: ' MB' }),
    ]
  },
}

const runOf = (bench: Bench, hosts: BenchHosts, forks: number, key: string | undefined): Command => {
  const inventory = key === undefined ? hosts.inventory : hosts.withoutKey
  const args = ['run', join(root, 'bench/peers/one-drover.yaml'), '-i', inventory, '--forks', String(forks)]
  const command = droverCommand(bench, [
    ...args,
    '--runs-dir',
    '/tmp/runs',
    ...(key === undefined ? [] : ['--private-key', key]),
  ])
  const env = { NODE_OPTIONS: `--import=${join(root, 'bench/inside/peak.js')}`, BENCH_PEAK_FILE: peakFile }
  return { ...command, env, timeoutMs }
}

/** In millions of bytes. */
const peakOf = async (
  bench: Bench,
  command: Command,
  hosts: number,
  meanwhile?: () => Promise<void>,
): Promise<number> => {
  const { client } = bench
  await client.must('rm -rf "$1" /tmp/held /tmp/gate && mkdir -m 0777 /tmp/held && mkfifo -m 0666 /tmp/gate', [
    peakFile,
  ])
  const measuring: Promise<Measured> = client.measure(command)
  const [measured] = await Promise.all([measuring, meanwhile?.()])
  mustReachAll(measured, hosts)
  const megabytes = (Number(await client.must('cat "$1"', [peakFile])) * 1024) / 1e6
  process.stderr.write(`bench:   ${hosts} hosts: ${Math.round(megabytes)} MB, ${Math.round(measured.wallMs)} ms\n`)
  return megabytes
}

/** Opens the gate when all of them stand before it. */
const releaseAll = async ({ client }: Bench, count: number): Promise<void> => {
  let waiting = 0
  for (let tries = 0; tries < 600 && waiting < count; tries += 1) {
    waiting = Number(await client.must('ls /tmp/held | wc -l'))
    await sleep(200)
  }
  await client.must('timeout 10 sh -c ": >/tmp/gate"')
  if (waiting < count) throw new Error(`only ${waiting} of ${count} hosts were live at once`)
}
