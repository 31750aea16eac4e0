// Two builds of one program, as near to each other as two releases that differ by a line: Go's own compiler, since it is about as large as an agent.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Need } from '../../e2e/lab/install.ts'
import { mustRun } from '../../e2e/lab/processes.ts'
import { benchFolder } from '../place.ts'

export const goNeed: Need = { command: 'go', packages: ['golang-go'] }

interface Build {
  readonly version: string
  /** A line of its own in the program's main function. */
  readonly line: string
}

const builds: readonly Build[] = [
  { version: 'v0.4.0', line: '' },
  { version: 'v0.4.1', line: '\tif len(os.Args) > 99 { os.Stderr.WriteString("too many arguments\\n") }\n' },
]

/** The files of both, the older one first. They are built once, and kept. */
export const neighbouringBuilds = async (): Promise<readonly [string, string]> => {
  const folder = benchFolder('builds')
  mkdirSync(folder, { recursive: true })
  const listed = await mustRun('go', ['list', '-f', '{{.Dir}}', 'cmd/compile'], { timeoutMs: 60_000 })
  const main = join(listed.toString().trim(), 'main.go')
  const files: string[] = []
  for (const build of builds) files.push(await make(folder, main, build))
  const [older = '', newer = ''] = files
  return [older, newer]
}

const make = async (folder: string, main: string, { version, line }: Build): Promise<string> => {
  const file = join(folder, version)
  if (existsSync(file)) return file
  const source = readFileSync(main, 'utf8').replace(/^func main\(\) \{\n/m, (begin) => `${begin}${line}`)
  writeFileSync(
    `${file}.go`,
    `${source}\nvar benchVersion = "unset"\n\nfunc init() { _ = os.Setenv("BENCH_VERSION", benchVersion) }\n`,
  )
  writeFileSync(`${file}.json`, JSON.stringify({ Replace: { [main]: `${file}.go` } }))
  const flags = ['-trimpath', '-overlay', `${file}.json`, '-ldflags', `-s -w -X main.benchVersion=${version}`]
  const env = { ...process.env, CGO_ENABLED: '0' }
  await mustRun('go', ['build', ...flags, '-o', `${file}.half`, 'cmd/compile'], { timeoutMs: 600_000, env })
  renameSync(`${file}.half`, file)
  return file
}
