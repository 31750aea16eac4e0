// What npm would publish, looked at before anybody installs it: compiled, with its shell scripts, and able to start.
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { root } from './step.ts'

interface Packed {
  readonly files: readonly { readonly path: string }[]
}

const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
) as Packed[]
const held = new Set(packed?.files.map(({ path }) => path))
const scripts = globSync('**/*.sh', { cwd: `${root}src` }).map((script) => `dist/${script}`)
const wanted = ['bin/drover.js', 'dist/main.js', 'LICENSE', 'README.md', 'playbooks/remediate.yaml', ...scripts]
const missing = wanted.filter((path) => !held.has(path))
const foreign = [...held].filter((path) => /^(src|test|e2e|\.)/.test(path))
const drover = (verb: string): string => execFileSync('node', ['dist/main.js', verb], { cwd: root, encoding: 'utf8' })
const starts = /^\d+\.\d+\.\d+\n$/.test(drover('--version')) && drover('playbooks').includes('remediate')
if (scripts.length === 0 || missing.length > 0 || foreign.length > 0 || !starts) {
  process.stdout.write(`missing: ${missing.join(', ')}\nforeign: ${foreign.join(', ')}\nstarts: ${starts}\n`)
  process.exitCode = 1
}
