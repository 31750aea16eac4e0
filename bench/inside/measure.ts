// Runs one command, which it reads from standard input, and says in JSON what that took. Runs beside the sshd, in the bench's container.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { Command, Measured } from '../measured.ts'

/** The kernel counts the time of ended processes in hundredths of a second, and so does every Linux that drover's users have. */
const tickMs = 10

/** User and system time of all children that have ended, theirs included. */
const childrenCpuMs = (): number => {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * tickMs
}

/** What all processes of this container have used: the client, the sshd, and the scripts on its hosts. */
const containerCpuMs = (): number => {
  try {
    return Number(readFileSync('/sys/fs/cgroup/cpuacct/cpuacct.usage', 'utf8')) / 1e6
  } catch {
    return Number(/usage_usec (\d+)/.exec(readFileSync('/sys/fs/cgroup/cpu.stat', 'utf8'))?.[1]) / 1e3
  }
}

/** The recap of ten thousand hosts has a million characters. */
const tail = (file: string): string => readFileSync(file, 'utf8').slice(-4_000_000)

const measure = ({ argv: [program, ...args], env, timeoutMs }: Command): Promise<Measured> =>
  new Promise((resolve, reject) => {
    const files = ['/tmp/bench-stdout', '/tmp/bench-stderr'] as const
    const [stdout, stderr] = files.map((file) => openSync(file, 'w')) as [number, number]
    const before = { children: childrenCpuMs(), container: containerCpuMs() }
    const started = performance.now()
    const child = spawn(program, args, {
      stdio: ['ignore', stdout, stderr],
      env: { ...process.env, ...env },
      detached: true,
    })
    const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), timeoutMs)
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      const wallMs = performance.now() - started
      clearTimeout(timer)
      const cpuMs = childrenCpuMs() - before.children
      const hostCpuMs = containerCpuMs() - before.container - cpuMs
      for (const fd of [stdout, stderr]) closeSync(fd)
      resolve({ wallMs, cpuMs, hostCpuMs, code, signal, stdout: tail(files[0]), stderr: tail(files[1]) })
    })
  })

const command = JSON.parse(readFileSync(0, 'utf8')) as Command
process.stdout.write(JSON.stringify(await measure(command)))
