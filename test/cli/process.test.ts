import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const bin = fileURLToPath(new URL('../../bin/drover.js', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const run = (program: string, argv: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(program, argv, (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }))
  })

test('the program itself runs, prints no warning, and ends with the exit code', async () => {
  expect(await run(process.execPath, [bin, '--version'])).toMatchObject({ code: 0, stderr: '' })
  const wrong = await run(process.execPath, [bin, 'rnu'])
  expect(wrong).toMatchObject({ code: 5, stdout: '' })
  expect(wrong.stderr).toContain('Did you mean run?')
})

test('a pipe that is closed early is no error', async () => {
  const child = spawn(process.execPath, [bin, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

// Where another Node is on the machine, as Debian's.
const oldNode = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path))

test.runIf(oldNode !== undefined)('a Node that is too old is told so, with what to do', async () => {
  const { stdout } = await run(oldNode ?? '', ['--version'])
  if (Number(stdout.slice(1).split('.')[0]) >= 24) return
  const ran = await run(oldNode ?? '', [bin, '--version'])
  expect(ran).toMatchObject({ code: 5, stdout: '' })
  expect(ran.stderr).toMatch(/needs Node 24 or later.*\n {2}fix: Install Node 24/)
})
