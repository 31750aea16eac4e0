// A wire with a delay between the bench's container and a lab host (line.c).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { mustRun } from '../../e2e/lab/processes.ts'
import { benchFolder, root } from '../place.ts'

export const farEnd = '10.99.0.2'

export interface Line {
  /** How long a packet is on its way, there or back. */
  delay(ms: number): Promise<void>
  close(): Promise<void>
}

export const openLine = async (nearPid: number, farPid: number): Promise<Line> => {
  const program = join(benchFolder('line'), 'line')
  await mustRun('cc', ['-O2', '-Wall', '-o', program, join(root, 'bench/line/line.c')], { timeoutMs: 60_000 })
  const child = spawn(program, [String(nearPid), String(farPid)], { stdio: ['pipe', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'exit')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answered = async (): Promise<void> => {
    if ((await answers.next()).done) throw new Error(`the delayed wire broke: ${said.trim()}`)
  }
  await answered()
  return {
    delay: async (ms) => {
      child.stdin.write(`${Math.round(ms * 1000)}\n`)
      await answered()
    },
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}
