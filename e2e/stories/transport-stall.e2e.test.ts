import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { changesOf, drover, startDrover } from '../support/drover.ts'
import { file, letThrough, slow, writePlaybook } from '../support/playbook.ts'
import { addUser, hostsFile, knowPort, startSshd } from '../support/sshd.ts'
import { exists } from '../support/units.ts'
import { hostsOver } from '../support/wire.ts'

/** Story: a host that says nothing is shown, with where; and which machine a host is, is for the host to say. */

/** An sshd for each transport: the same address and port under two names would be one host to drover. */
const ports = { ssh2: 2201, openssh: 2202 } as const
const transports = ['ssh2', 'openssh'] as const

let lab: Lab
let one: LabHost
let two: LabHost

beforeAll(async () => {
  lab = await openLab('transport-stall', { yes: true })
  ;[one, two] = await Promise.all([
    lab.boot({ name: 'one', image: 'rhel9-like' }),
    lab.boot({ name: 'two', image: 'ubuntu-like' }),
  ])
  await addUser(lab, one, { name: 'slow', shell: '/bin/bash', files: { '.bashrc': 'sleep 5\n' } })
  for (const port of Object.values(ports)) {
    await startSshd(one, { port })
    await knowPort(lab, one, port)
  }
})

afterAll(() => lab?.close())

/** The host `one` by each transport, under names of their own. */
const oneByEach = (prefix: string, more: object = {}): Record<string, object> =>
  Object.fromEntries(
    transports.map((transport) => [
      `${prefix}-${transport}`,
      { address: one.address, port: ports[transport], transport, ...more },
    ]),
  )

test('a frozen session is shown as stalled in the section that it stopped in, and the other host ends meanwhile', async () => {
  const frozen = oneByEach('frozen')
  const names = Object.keys(frozen)
  const inventory = hostsFile(lab, 'frozen', { ...frozen, lively: { address: two.address } })
  // The look waits until what it is read through has been frozen.
  const unless = ['sh', '-c', ': >"/run/asking.$$"; until [ -e /run/ask.go ]; do sleep 0.1; done']
  const asks = writePlaybook(lab, 'ask', [{ name: 'ask', task: 'command', with: { argv: ['true'], unless } }])
  await letThrough(two, 'ask')
  const run = startDrover(lab, ['run', asks, '--stall-after', '3'], { inventory })
  // Only what serves these ports, and only the parts that hold the sessions.
  const session = `for pid in $(pgrep -P "$(cat /run/sshd-2201.pid),$(cat /run/sshd-2202.pid)"); do
    kill -STOP "$pid"; for child in $(pgrep -P "$pid" sshd); do kill -STOP "$child"; done
  done`
  await one.must(`until [ "$(ls /run/asking.* 2>/dev/null | wc -l)" -eq 2 ]; do sleep 0.1; done; ${session}`)
  await letThrough(one, 'ask')
  const silences = await Promise.all(
    names.map(async (name) => {
      const stalled = await run.until('host-stalled', ({ host }) => host === name)
      expect(stalled.where).toBe('inspect section commands')
      expect(stalled.silentMs).toBeGreaterThanOrEqual(3000)
      // Again when the silence has doubled.
      const again = await run.until(
        'host-stalled',
        ({ host, silentMs }) => host === name && silentMs > stalled.silentMs,
      )
      return [stalled.silentMs, again.silentMs] as const
    }),
  )
  for (const [first, second] of silences) expect(second).toBeGreaterThanOrEqual(2 * first)
  await run.until('host-ended', ({ host }) => host === 'lively')
  await one.must(session.replaceAll('-STOP', '-CONT'))
  const end = await run.ended
  expect(end.code, end.stdout + end.stderr).toBe(0)
  for (const name of names) {
    expect(end.events.some((event) => event.type === 'host-moving' && event.host === name)).toBe(true)
    expect(end.stdout).toMatch(new RegExp(`stalled: \\[${name}\\] silent for \\d+\\.\\d s in inspect section commands`))
    expect(end.stdout).toMatch(new RegExp(`moving: \\[${name}\\] after \\d+\\.\\d s in inspect section commands`))
    expect(end.stdout).toMatch(
      new RegExp(`stalled meanwhile: .*${name} \\(\\d+\\.\\d s in inspect section commands\\)`),
    )
    expect(end.host(name).stalled?.where).toBe('inspect section commands')
  }
  expect(end.host('lively').stalled).toBeNull()
})

test('a slow login shell is named, and is not the fault of the inspect', async () => {
  const slows = oneByEach('slow', { user: 'slow' })
  const playbook = writePlaybook(lab, 'look', [file('f', '/etc/motd', 'x\n')])
  const end = await drover(lab, ['run', playbook, '--check', '--stall-after', '2'], {
    inventory: hostsFile(lab, 'slow', slows),
  })
  for (const name of Object.keys(slows))
    expect(end.host(name).stalled?.where, end.stdout + end.stderr).toBe('the login shell, before inspect began')
})

test('a step that hangs on the host is named with its change; a wait that was declared is none', async () => {
  const inventory = hostsOver(lab, 'step', [
    [one, 'openssh'],
    [two, 'ssh2'],
  ])
  const steps = [
    slow(4, '/etc/slow', { timeout_s: 20 }),
    // What systemctl does by itself has no time of its own.
    { name: 'down', task: 'unit-running', with: { unit: 'hang.service', running: false } },
  ]
  for (const host of [one, two]) {
    await host.put(
      '/etc/systemd/system/hang.service',
      '[Service]\nExecStart=/bin/sleep infinity\nExecStop=/bin/sleep 5\n',
    )
    await host.must('systemctl daemon-reload; systemctl start hang.service')
  }
  const end = await drover(lab, ['run', writePlaybook(lab, 'hang', steps), '--stall-after', '2'], { inventory })
  expect(end.code, end.stdout + end.stderr).toBe(0)
  for (const { name } of [one, two]) {
    const places = end.events.flatMap((event) =>
      event.type === 'host-stalled' && event.host === name ? [event.where] : [],
    )
    expect(places).toContain("step 'down': systemctl stop hang.service")
    expect(places.filter((place) => place.startsWith("step 'slow'"))).toEqual([])
  }
})

describe('which machine a host is', () => {
  test('one under two names is changed under the first alone; a check of both only tells', async () => {
    const names = {
      first: { ...one.inventoryEntry, transport: 'ssh2' },
      second: { address: one.address, port: ports.openssh, transport: 'openssh' },
    }
    const inventory = hostsFile(lab, 'names', names)
    const mark = '/etc/names'
    const playbook = writePlaybook(lab, 'names', [file('f', mark, 'x\n')])
    const check = await drover(lab, ['run', playbook, '--check'], { inventory })
    expect(check.code, check.stdout + check.stderr).toBe(0)
    expect(check.report?.totals['would-change']).toBe(2)
    expect(check.report?.notices.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^(first, second|second, first) are one machine/),
    )
    const run = await drover(lab, ['run', playbook, '--forks', '1'], { inventory })
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(run.host('first')).toMatchObject({ outcome: 'changed' })
    expect(run.host('second').outcome, 'as wanted by then').toBe('unchanged')
    await one.must('rm "$1"', [mark])
    // Both want the change at once: neither look ends before the other has begun.
    const meet = ': >"/run/both.$$"; until [ "$(ls /run/both.* | wc -l)" -ge 2 ]; do sleep 0.1; done; [ -e "$1" ]'
    const touch = { argv: ['touch', mark], unless: ['sh', '-c', meet, 'meet', mark] }
    const wanted = writePlaybook(lab, 'both', [{ name: 'touch', task: 'command', with: touch }])
    const both = await drover(lab, ['run', wanted, '--forks', '2'], { inventory })
    const outcomes = [both.host('first'), both.host('second')].map(({ outcome }) => outcome)
    expect(outcomes.toSorted(), both.stdout + both.stderr).toEqual(['blocked', 'changed'])
  })

  test.each(transports)(
    'two hosts of one address behind two jump hosts never mix over %s: each is changed, and says who it is',
    async (transport) => {
      const file1 = join(lab.folder, `jumps-${transport}.hosts.yaml`)
      const inner = (jump: string) => ({ address: '127.0.0.1', user: 'root', jump, host_key_alias: `${jump}-inner` })
      const keys = await Promise.all([one, two].map((host) => host.hostKeys()))
      const known = ['jump-one-inner', 'jump-two-inner'].flatMap((name, index) =>
        (keys[index] ?? []).map((key) => `${name} ${key.split(' ').slice(0, 2).join(' ')}\n`),
      )
      const aliases = join(lab.folder, 'inner_known_hosts')
      writeFileSync(aliases, known.join(''))
      writeFileSync(
        file1,
        stringify({
          known_hosts: [lab.knownHostsFile, aliases],
          identity_file: lab.key.file,
          transport,
          hosts: {
            'jump-one': one.inventoryEntry,
            'jump-two': two.inventoryEntry,
            'inner-one': inner('jump-one'),
            'inner-two': inner('jump-two'),
          },
        }),
      )
      const mark = `/etc/jumps-${transport}`
      const playbook = writePlaybook(lab, 'jumps', [file('f', mark, '${host.name}\n')])
      const run = await drover(lab, ['run', playbook, '-l', 'inner-one,inner-two', '--forks', '2'], {
        inventory: file1,
      })
      expect(run.code, run.stdout + run.stderr).toBe(0)
      for (const [name, host] of [
        ['inner-one', one],
        ['inner-two', two],
      ] as const) {
        expect(await host.must('cat "$1"', [mark])).toBe(name)
        expect(changesOf(run.host(name))).toHaveLength(1)
        expect(run.host(name).machine?.machineId).toBe(await host.must('cat /etc/machine-id'))
      }
      expect(run.report?.notices).toEqual([])
      expect(await exists(one, mark)).toBe(true)
    },
  )
})
