// A process id alone can be reused, so the lab remembers a process by its id and its start time.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The start time of a process of this machine in clock ticks, or undefined if there is none. */
export function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22. The second field, the name, may hold blanks, so count from its closing bracket.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

/** The name of a process's program, cut to 15 characters by the kernel, or undefined if there is no such process. */
export function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return undefined
  }
}

interface Ran {
  code: number
  stdout: Buffer
  stderr: string
}

/** Run a program of this machine to its end, within a time. `show` passes its output on to our stderr as it comes. */
function run(
  command: string,
  args: readonly string[],
  options: { timeoutMs: number; show?: boolean; env?: NodeJS.ProcessEnv },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
      env: options.env ?? process.env,
    })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => (options.show ? process.stderr.write(chunk) : stdout.push(chunk)))
    child.stderr.on('data', (chunk: Buffer) => {
      if (options.show) process.stderr.write(chunk)
      stderr.push(chunk)
    })
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve({
        code: code ?? (signal === null ? 1 : 137),
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString(),
      }),
    )
  })
}

/** As `run`, but a failure is an error with the program's last words. */
export async function mustRun(
  command: string,
  args: readonly string[],
  options: { timeoutMs: number; show?: boolean; env?: NodeJS.ProcessEnv },
): Promise<Buffer> {
  const ran = await run(command, args, options)
  if (ran.code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${ran.code}: ${ran.stderr.slice(-2000)}`)
  return ran.stdout
}
