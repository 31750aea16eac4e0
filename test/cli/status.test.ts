import { expect, test } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import { createFakeConnection, ends, hold } from '../transport/fake-connection.ts'
import { drover, start } from './harness.ts'
import { askedOnce, local } from './local-host.ts'

const files = { 'hosts.yaml': 'hosts:\n  a: {}\n  b: {}\n  sudo: {user: admin, become: true}\n' }
const unreachable = new DroverError({ code: 'connect-timeout', message: 'No answer.', remedy: 'Look at the network.' })

test('one command per host; hosts that cannot be reached are rows with their code', async () => {
  const host = askedOnce()
  const ran = await drover(['status', '-i', 'hosts.yaml', '-l', 'a,b'], { files, hosts: { a: host, b: unreachable } })
  expect(ran).toMatchObject({ code: 4, stderr: '' })
  const [header, ...rows] = ran.stdout.split('\n')
  expect(header).toMatch(/^HOST +OS +SYSTEMD +AGENT +STATE +ROOT +TARGET +WORKER +VERDICT +FIX$/)
  expect(rows[0]).toMatch(/^a {2}/)
  expect(rows[1]).toMatch(/^b .* connect-timeout +-$/)
  expect(ran.stdout).toContain('b: No answer. [connect-timeout]\n  fix: Look at the network.')
  expect(host.calls).toHaveLength(1)
  expect(host.isClosed).toBe(true)
})

test('without root rights the host is read a second time without them, and the row says so', async () => {
  const host = createFakeConnection({ inspect: [ends(1, 'sudo: a password is required\n'), local] })
  const ran = await drover(['status', '-i', 'hosts.yaml', '-l', 'sudo', '-o', 'json'], { files, hosts: { sudo: host } })
  expect(ran.code).toBe(0)
  expect(host.calls.map(({ become }) => become)).toEqual([true, false])
  const { hosts } = JSON.parse(ran.stdout) as { hosts: Record<string, unknown>[] }
  expect(hosts).toMatchObject([
    { host: 'sudo', withoutRoot: process.getuid?.() !== 0, status: { host: 'sudo' }, error: null },
  ])
})

test('--where and -o names make a list that -l @file reads', async () => {
  const world = { files, hosts: { a: askedOnce(), b: unreachable } }
  const ran = await drover(
    ['status', '-i', 'hosts.yaml', '-l', 'a,b', '--where', 'verdict=connect-*', '-o', 'names'],
    world,
  )
  expect(ran).toMatchObject({ code: 4, stdout: 'b\n' })
  const again = await drover(['inventory', 'list', '-i', 'hosts.yaml', '-l', '@list.txt', '-o', 'json'], {
    files: { ...files, 'list.txt': ran.stdout },
  })
  expect((JSON.parse(again.stdout) as { hosts: unknown[] }).hosts).toMatchObject([{ name: 'b' }])
})

test('--exit-code tells of hosts that are not healthy', async () => {
  // Whatever this machine is, it is no healthy node.
  const world = () => ({ files, hosts: { a: askedOnce() } })
  expect((await drover(['status', '-i', 'hosts.yaml', '-l', 'a'], world())).code).toBe(0)
  expect((await drover(['status', '-i', 'hosts.yaml', '-l', 'a', '--exit-code'], world())).code).toBe(2)
})

test('an interrupt ends it with the rows that are there', async () => {
  const held = hold(local)
  const running = start(['status', '-i', 'hosts.yaml', '-l', 'a,b', '-f', '1'], {
    files,
    hosts: { a: createFakeConnection({ inspect: held }) },
  })
  await held.reached
  running.interrupt()
  held.release()
  const ran = await running.ended
  expect(ran.code).toBe(130)
  expect(ran.stdout).toMatch(/^b .* cancelled +-$/m)
})
