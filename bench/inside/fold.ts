// What a CPU profile says, in a few lines: where the samples fell, by function. Reads the profiles in a folder.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const shown = 12
const folder = process.argv[2] ?? '.'

const shortened = (url: string): string =>
  url.replace(/^.*\/(?:node_modules|\.lab\/bench\/[^/]+)\//, '').replace(/^file:\/\//, '')

const selfTimes = new Map<string, number>()
for (const file of globSync('*.cpuprofile', { cwd: folder })) {
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile
  const names = new Map(
    profile.nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      url === '' ? functionName : `${functionName || '(anonymous)'} ${shortened(url)}:${lineNumber + 1}`,
    ]),
  )
  for (const [index, id] of profile.samples.entries()) {
    const name = names.get(id) ?? '?'
    selfTimes.set(name, (selfTimes.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0))
  }
}
const idle = selfTimes.get('(idle)') ?? 0
selfTimes.delete('(idle)')
const busy = [...selfTimes.values()].reduce((sum, time) => sum + time, 0)
const percent = (part: number, of: number): string => `${((100 * part) / of).toFixed(0)} %`
const lines = [...selfTimes].toSorted(([, a], [, b]) => b - a).slice(0, shown)
process.stdout.write(
  [
    `drover's event loop: idle ${percent(idle, idle + busy)} of the time; of the rest, by function:`,
    ...lines.map(([name, time]) => `${percent(time, busy).padStart(5)}  ${name}`),
    '',
  ].join('\n'),
)
