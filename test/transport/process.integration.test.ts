import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const bin = fileURLToPath(new URL('../../bin/drover.js', import.meta.url))

/** `drover --version`, with a program of the test's own started before it in the same process. */
const drover = (before: string, env: NodeJS.ProcessEnv = {}): Promise<{ code: number | null; stdout: string }> =>
  new Promise((resolve) => {
    const { UV_THREADPOOL_SIZE: _, ...clean } = process.env
    const url = `data:text/javascript,${encodeURIComponent(before)}`
    const argv = ['--import', url, bin, '--version']
    const child = execFile(process.execPath, argv, { env: { ...clean, ...env } }, (_error, stdout) =>
      resolve({ code: child.exitCode, stdout }),
    )
    onTestFinished(() => void child.kill('SIGKILL'))
  })

test('a run that is over ends, although something still holds the process', async () => {
  const ended = await drover(`
    import { createServer } from 'node:net'
    createServer().listen(0, '127.0.0.1')`)
  expect(ended).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

test.each([
  ['64, so that slow names do not hold up others', {}, 64],
  ['as many as the user says', { UV_THREADPOOL_SIZE: '7' }, 7],
])('threads for lookups: %s', async (_, env, count) => {
  const { stdout } = await drover(
    `
    import { lookup } from 'node:dns'
    import { readdirSync, readFileSync } from 'node:fs'
    process.on('exit', () => {
      lookup('localhost', () => undefined)
      const names = readdirSync('/proc/self/task').map((id) => readFileSync('/proc/self/task/' + id + '/comm', 'utf8'))
      console.log(names.filter((name) => name === 'libuv-worker\\n').length)
    })`,
    env,
  )
  expect(stdout).toMatch(new RegExp(`\n${count}\n$`))
})
