import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { knowNames } from '../support/aliases.ts'
import { drover, startDrover } from '../support/drover.ts'
import { file, slow, writePlaybook } from '../support/playbook.ts'
import { hostsFile, startSshd } from '../support/sshd.ts'

/** Story: hosts behind jump hosts: one connection to each, none mixed up with another, and nobody hurt by a neighbour's. */

const [gatePort, secondPort, closedPort] = [2222, 2223, 2224]
/** Behind the jump host: its own loopback, where it has as many addresses as one likes. */
const behind = Array.from({ length: 60 }, (_, index) => `127.0.2.${index + 1}`)

let lab: Lab
let east: LabHost
let west: LabHost

beforeAll(async () => {
  lab = await openLab('transport-jump', { yes: true })
  ;[east, west] = await Promise.all([
    lab.boot({ name: 'east', image: 'ubuntu-like' }),
    lab.boot({ name: 'west', image: 'rhel9-like' }),
  ])
  for (const gate of [east, west]) {
    await startSshd(gate, { port: gatePort, lines: ['LogLevel VERBOSE', 'MaxStartups 10', 'MaxSessions 10'] })
    await startSshd(gate, { port: secondPort, lines: ['LogLevel VERBOSE'] })
  }
  await startSshd(east, { port: closedPort, lines: ['AllowTcpForwarding no'] })
  const ports = [gatePort, secondPort, closedPort]
  await knowNames(lab, east, [...behind, ...ports.map((port) => `[${east.address}]:${port}`), 'inner-east'])
  await knowNames(lab, west, [
    ...ports.map((port) => `[${west.address}]:${port}`),
    `[127.0.0.1]:${secondPort}`,
    'inner-west',
  ])
})

afterAll(() => lab?.close())

interface Row {
  readonly host: string
  readonly status: object | null
  readonly error: { readonly code: string; readonly message: string; readonly remedy: string } | null
}

const status = async (inventory: string, ...args: string[]): Promise<readonly Row[]> => {
  const ended = await drover(lab, ['status', '-o', 'json', '--forks', '60', ...args], { inventory, timeoutMs: 150_000 })
  if (ended.stdout === '') throw new Error(`drover status said nothing: ${ended.stderr}`)
  return (JSON.parse(ended.stdout) as { hosts: Row[] }).hosts
}

/** How many logins this sshd has let in. */
const logins = async (host: LabHost, port: number): Promise<number> =>
  Number(
    await host.must('journalctl --no-pager -q -o cat -u "sshd-$1" | grep -c -- "Accepted publickey" || :', [
      String(port),
    ]),
  )

/** Ends the processes that hold the connections of this sshd: the children of those that it watches them with. */
const breakConnections = async (host: LabHost, port: number): Promise<void> => {
  const script = `
    for watcher in $(cat "/proc/$1/task/$1/children"); do
      holders=$(cat "/proc/$watcher/task/$watcher/children")
      kill -KILL \${holders:-$watcher} && echo ended
    done`
  const ended = await host.must(script, [await host.must('systemctl show -P MainPID "sshd-$1"', [String(port)])])
  expect(ended).toContain('ended')
}

describe.each(['ssh2', 'openssh'])('by %s', (transport) => {
  const inventory = (name: string, hosts: Record<string, object>): string =>
    hostsFile(lab, `jump-${transport}-${name}`, hosts, { transport, user: 'root' })
  const gate = (host: LabHost, port = gatePort): string => `root@${host.address}:${port}`

  test('sixty hosts behind one jump host with the usual limits take one connection to it', async () => {
    const before = await logins(east, gatePort)
    const hosts = Object.fromEntries(behind.map((address, index) => [`h${index}`, { address, jump: gate(east) }]))
    const rows = await status(inventory('sixty', hosts))
    expect(rows.filter(({ error }) => error !== null)).toEqual([])
    expect(rows).toHaveLength(60)
    expect((await logins(east, gatePort)) - before).toBe(1)
  })

  test('three jump hosts in a row lead to the host, and each is checked', async () => {
    const way = [gate(east), gate(west), `root@127.0.0.1:${secondPort}`]
    const rows = await status(
      inventory('row', { far: { address: '127.0.3.1', host_key_alias: 'inner-west', jump: way } }),
    )
    expect(rows.map(({ error }) => error)).toEqual([null])
    const wrong = await status(
      inventory('wrong', { far: { address: '127.0.3.1', host_key_alias: 'inner-east', jump: way } }),
    )
    expect(wrong.map(({ error }) => error?.code)).toEqual(['host-key-changed'])
  })

  test('two hosts with one address behind different jump hosts are never mixed up', async () => {
    const at = { address: '127.0.3.1', port: 22 }
    const hosts = {
      'inner-east': { ...at, jump: gate(east), host_key_alias: 'inner-east', vars: { side: 'east' } },
      'inner-west': { ...at, jump: gate(west), host_key_alias: 'inner-west', vars: { side: 'west' } },
    }
    const path = `/etc/side-${transport}`
    const playbook = writePlaybook(lab, `side-${transport}`, [file('side', path, '${side}\n')])
    const ran = await drover(lab, ['run', playbook], { inventory: inventory('sides', hosts) })
    expect(ran.code, ran.stdout + ran.stderr).toBe(0)
    expect(await Promise.all([east, west].map((host) => host.must('cat "$1"', [path])))).toEqual(['east', 'west'])
  })

  test('one that forwards nothing, and a dead host behind one, are each said to be that, and hurt no other', async () => {
    const rows = await status(
      inventory('bad', {
        closed: { address: '127.0.2.1', jump: gate(east, closedPort) },
        refused: { address: '127.0.2.2', port: 9, jump: gate(east) },
        // Nobody has this address: the jump host waits for an answer, drover no longer than it says.
        dead: { address: `${east.address.slice(0, east.address.lastIndexOf('.'))}.254`, jump: gate(east) },
        fine: { address: '127.0.2.3', jump: gate(east) },
      }),
      '-T',
      '2',
    )
    const errorOf = (name: string): Row['error'] | undefined => rows.find(({ host }) => host === name)?.error
    expect(errorOf('fine')).toBeNull()
    expect(errorOf('closed')?.remedy).toMatch(/AllowTcpForwarding/)
    expect(errorOf('refused')).toMatchObject({ code: 'connect-failed', message: expect.stringMatching(/refused/i) })
    expect(errorOf('dead')?.code).toMatch(/^connect-(timeout|failed)$/)
  })

  test('one that breaks in the middle takes no other host with it, and is connected anew once for all', async () => {
    const before = await logins(east, gatePort)
    const hosts = {
      behind: { address: west.address, jump: gate(east) },
      direct: { address: east.address },
    }
    const mark = `/run/broken-${transport}`
    const playbook = writePlaybook(lab, `broken-${transport}`, [
      slow(6, mark),
      file('after', `/etc/broken-${transport}`, 'whole\n'),
    ])
    const process = startDrover(lab, ['run', playbook], { inventory: inventory('broken', hosts) })
    for (const name of ['behind', 'direct']) await process.until('change-started', (event) => event.host === name)
    await breakConnections(east, gatePort)
    const ran = await process.ended
    expect(ran.code, ran.stdout + ran.stderr).toBe(0)
    const hit = ran.events.flatMap((event) => (event.type === 'host-reconnected' ? [event.host] : []))
    expect(hit).toEqual(['behind'])
    expect((await logins(east, gatePort)) - before).toBe(2)
    expect(await west.must('cat "$1"', [`/etc/broken-${transport}`])).toBe('whole')
  })
})
