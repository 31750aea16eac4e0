// How the demo shows what it does, and holds it to what must come of it.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Shows a command as a person would type it, then runs it. Its exit code. */
export const show = (why: string, command: readonly string[]): number => {
  say(`\n# ${why}\n$ npx drover ${command.map((word) => (/^[\w./@=:,-]+$/.test(word) ? word : `'${word}'`)).join(' ')}`)
  const { status } = spawnSync('node', ['bin/drover.js', ...command], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return status ?? 1
}

export const capture = (command: readonly string[]): string =>
  spawnSync('node', ['bin/drover.js', ...command], { cwd: root, encoding: 'utf8' }).stdout

export const expect = (isSo: boolean, what: string): void => {
  if (!isSo) throw new Error(`the demo did not go as it must: ${what}`)
}
