// npm run bench [-- ROW... --runs N --scale X --yes]
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareMachine } from '../e2e/lab/engine.ts'
import type { Bench, Row } from './bench.ts'
import { type Client, openClient } from './client.ts'
import { type Figure, notMeasured } from './figure.ts'
import { describeMachine, describeVersions } from './machine.ts'
import { pageOf } from './page.ts'
import { goNeed } from './peers/builds.ts'
import { installPeers, pipNeed } from './peers/install.ts'
import { root } from './place.ts'
import { keepResult } from './results.ts'
import { checks } from './rows/checks.ts'
import { delivery } from './rows/delivery.ts'
import { help } from './rows/help.ts'
import { inventory } from './rows/inventory.ts'
import { memory } from './rows/memory.ts'
import { preflight } from './rows/preflight.ts'
import { roundTrips } from './rows/round-trips.ts'
import { upload } from './rows/upload.ts'
import { buildShipped } from './shipped.ts'
import { textTable } from './table.ts'

// The quick ones first: a run that is cut short has measured them.
const rows: readonly Row[] = [help, inventory, roundTrips, preflight, delivery, upload, memory, checks]
const usage = `usage: npm run bench [-- ROW... --runs N --scale X --yes]\n  rows: ${rows.map(({ name }) => name).join(', ')}\n`

interface Wanted {
  readonly rows: readonly Row[]
  readonly runs: number
  readonly scale: number
  readonly yes: boolean
}

const wanted = (): Wanted | undefined => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        runs: { type: 'string', default: '5' },
        // Fewer hosts, to try a row out.
        scale: { type: 'string', default: '1' },
        yes: { type: 'boolean', default: false },
      },
    })
    const [runs, scale] = [Number(values.runs), Number(values.scale)]
    const unknown = positionals.some((name) => !rows.some((row) => row.name === name))
    if (unknown || !Number.isSafeInteger(runs) || runs < 1 || !(scale > 0)) return undefined
    const chosen = rows.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    return { rows: chosen, runs, scale, yes: values.yes || process.env.CI !== undefined }
  } catch {
    return undefined
  }
}

const measureRow = async (bench: Bench, row: Row): Promise<readonly Figure[]> => {
  process.stderr.write(`bench: ${row.name}\n`)
  try {
    return await row.measure(bench)
  } catch (error) {
    process.exitCode = 1
    const why = error instanceof Error ? error.message : String(error)
    process.stderr.write(`bench: ${row.name} failed: ${why}\n`)
    return [notMeasured(row.name, '-', why.split('\n')[0] ?? '')]
  }
}

const bench = async ({ rows: chosen, runs, scale, yes }: Wanted): Promise<void> => {
  await prepareMachine({ yes, more: [pipNeed, ...(chosen.includes(delivery) ? [goNeed] : [])] })
  const installed = await installPeers(yes)
  const shipped = await buildShipped()
  const client: Client = await openClient()
  try {
    const measured: Figure[] = []
    // With fewer hosts a row is only tried out.
    const counts = scale === 1
    const versions = counts ? await describeVersions(client, installed) : []
    for (const row of chosen) {
      const figures = await measureRow({ client, shipped, installed, runs, scale }, row)
      measured.push(...figures)
      if (!counts) continue
      const date = new Date().toISOString().slice(0, 10)
      const results = keepResult({ row: row.name, date, machine: describeMachine(), versions, runs, figures })
      writeFileSync(join(root, 'docs/benchmarks.md'), pageOf(rows, results))
    }
    process.stdout.write(textTable(measured))
    const reasons = new Set(measured.map(({ why }) => why?.join('\n') ?? ''))
    for (const reason of reasons) if (reason !== '') process.stdout.write(`\n${reason}\n`)
  } finally {
    await client.close()
  }
}

const asked = wanted()
if (asked === undefined) {
  process.stderr.write(usage)
  process.exitCode = 5
} else {
  await bench(asked)
}
