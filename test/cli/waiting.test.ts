import { expect, test } from 'vitest'
import { openTransport } from '../../src/cli/transport.ts'
import type { StageDeadlines } from '../../src/transport/connection.ts'
import { createFakeConnection, hold } from '../transport/fake-connection.ts'
import { start } from './harness.ts'
import { local } from './local-host.ts'
import { testTasks } from './test-tasks.ts'

const deadlinesOf = (connectTimeout?: number): StageDeadlines | undefined => {
  let seen: StageDeadlines | undefined
  openTransport(
    {
      createTransport: (options: { deadlines: StageDeadlines }) => {
        seen = options.deadlines
        return {}
      },
      env: {},
    } as never,
    { passwords: {} as never, onNotice: () => {}, connectTimeout },
  )
  return seen
}

test('-T is how long TCP and the handshake may take, and leaves the other stages their own time', () => {
  const usual = deadlinesOf()
  expect(usual).toMatchObject({ connectMs: 10_000, handshakeMs: 20_000 })
  expect(deadlinesOf(3)).toEqual({ ...usual, connectMs: 3000, handshakeMs: 3000 })
})

test('--stall-after has a host that says nothing told of', async () => {
  const held = hold(local)
  const running = start(['run', './p.yaml', '-i', 'a,', '--stall-after', '1', '-o', 'json', '-v'], {
    files: { 'p.yaml': 'name: p\ndescription: d\nsteps:\n  - task: as-it-is\n' },
    hosts: { a: createFakeConnection({ inspect: held }) },
    tasks: testTasks,
  })
  await held.reached
  // The one real second of this suite: what comes of longer silences is in stall.test.ts.
  await expect.poll(() => running.stderr(), { timeout: 10_000 }).toContain('stalled: [a]')
  held.release()
  const { stdout, stderr } = await running.ended
  expect(stderr).toMatch(/moving: \[a\] after \d/)
  const { hosts } = JSON.parse(stdout) as { hosts: { stalled: { where: string } | null }[] }
  expect(hosts[0]?.stalled?.where).toBe('the login shell, before inspect began')
})

test('a terminal gets its last line emptied again, and a dumb one never has it', async () => {
  for (const [env, marks] of [
    [{}, true],
    [{ TERM: 'dumb' }, false],
  ] as const) {
    const held = hold(local)
    const running = start(['run', './p.yaml', '-i', 'a,', '--stall-after', '1', '-o', 'json', '-v'], {
      files: { 'p.yaml': 'name: p\ndescription: d\nsteps:\n  - task: as-it-is\n' },
      hosts: { a: createFakeConnection({ inspect: held }) },
      tasks: testTasks,
      isTTY: true,
      env: { ...env, NO_COLOR: '1' },
    })
    await held.reached
    await expect.poll(() => running.stderr(), { timeout: 10_000 }).toContain('stalled: [a]')
    held.release()
    const { stderr } = await running.ended
    expect(stderr.includes('\r\x1b[Ka: 1 s in the login shell')).toBe(marks)
    expect(stderr.includes('\x1b')).toBe(marks)
  }
})
