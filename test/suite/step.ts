import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Step {
  readonly name: string
  readonly argv: readonly [string, ...string[]]
  /** Its output is shown as it comes, and not only when it fails. */
  readonly isShown?: boolean
}

/** Runs one command from the repository's root; true when it exits 0. Says what failed, in full. */
export const runStep = ({ name, argv: [command, ...args], isShown = false }: Step): Promise<boolean> =>
  new Promise((resolve) => {
    const started = performance.now()
    const output: Buffer[] = []
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
    })
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => output.push(chunk))
    const end = (isGood: boolean, why = ''): void => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      process.stdout.write(`${isGood ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)${why}\n`)
      if (!isGood) process.stdout.write(Buffer.concat(output))
      resolve(isGood)
    }
    child.on('error', (error) => end(false, `: ${error.message}`))
    child.on('close', (code) => end(code === 0))
  })
