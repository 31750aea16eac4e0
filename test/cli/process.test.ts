import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

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

test('signals: the first lets hosts end, the second stops them, and the exit code is 130', async () => {
  // It takes connections and never says a word, so the run waits for it.
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  const cwd = mkdtempSync(join(tmpdir(), 'drover-signals-'))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
    rmSync(cwd, { recursive: true, force: true })
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const child = spawn(process.execPath, [bin, 'run', 'remediate', '--check', '-i', `127.0.0.1:${port},`], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  const until = (stream: 'stdout' | 'stderr', text: string): Promise<void> =>
    new Promise((resolve) => {
      child[stream].on('data', (chunk: Buffer) => {
        said[stream] += chunk.toString()
        if (said[stream].includes(text)) resolve()
      })
    })
  const closed = new Promise((resolve) => child.on('close', resolve))
  const [first, second] = [until('stderr', 'Again to stop them'), until('stderr', 'Again to leave at once')]
  await until('stdout', 'PLAY [remediate]')
  child.kill('SIGINT')
  await first
  child.kill('SIGTERM')
  await second
  expect(await closed).toBe(130)
})

test('a Node that is too old is told so, with what to do', async () => {
  const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })"
  const ran = await run(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(old)}`,
    bin,
    '--version',
  ])
  expect(ran).toMatchObject({ code: 5, stdout: '' })
  expect(ran.stderr).toMatch(/needs Node 24 or later, and this is Node 20\.20\.2.*\n {2}fix: Install Node 24/)
})
