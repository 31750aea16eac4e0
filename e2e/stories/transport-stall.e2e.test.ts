import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { changesOf, drover, startDrover } from '../support/drover.ts'
import { file, slow, writePlaybook } from '../support/playbook.ts'
import { addUser, hostsFile, knowPort, startSshd } from '../support/sshd.ts'
import { exists } from '../support/units.ts'

/** Story: a host that says nothing is shown, with where; and which machine a host is, is for the host to say. */

const frozenPort = 2201

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
  await startSshd(one, { port: frozenPort })
  await knowPort(lab, one, frozenPort)
})

afterAll(() => lab?.close())

/** Its `unless` takes its time, so that there is time to freeze what it is read through. */
const asks = { name: 'ask', task: 'command', with: { argv: ['true'], unless: ['sh', '-c', 'sleep 2'] } }

describe.each(['ssh2'])('over %s', (transport) => {
  const transported = { transport }

  test('a frozen session is shown as stalled in the section that it stopped in, and the other host ends meanwhile', async () => {
    const inventory = hostsFile(
      lab,
      `frozen-${transport}`,
      { frozen: { address: one.address, port: frozenPort }, lively: { address: two.address } },
      transported,
    )
    const run = startDrover(lab, ['run', writePlaybook(lab, 'ask', [asks]), '--stall-after', '3'], { inventory })
    await run.until('host-connected', ({ host }) => host === 'frozen')
    // Only what serves this port, and only the part that holds the session.
    const session = `for pid in $(pgrep -P "$(cat /run/sshd-${frozenPort}.pid)"); do kill -STOP "$pid"; for child in $(pgrep -P "$pid" sshd); do kill -STOP "$child"; done; done`
    await one.must(`until pgrep -f "^sleep 2$" >/dev/null; do sleep 0.1; done; ${session}`)
    const stalled = await run.until('host-stalled')
    expect(stalled).toMatchObject({ host: 'frozen', where: 'inspect section commands' })
    expect(stalled.silentMs).toBeGreaterThanOrEqual(3000)
    await run.until('host-ended', ({ host }) => host === 'lively')
    // Again when the silence has doubled.
    const again = await run.until('host-stalled', ({ silentMs }) => silentMs > stalled.silentMs)
    expect(again.silentMs).toBeGreaterThanOrEqual(2 * stalled.silentMs)
    await one.must(session.replaceAll('-STOP', '-CONT'))
    const end = await run.ended
    expect(end.code, end.stdout + end.stderr).toBe(0)
    expect(end.events.find(({ type }) => type === 'host-moving')).toMatchObject({ host: 'frozen' })
    expect(end.stdout).toMatch(/stalled: \[frozen\] silent for 3\.\d s in inspect section commands/)
    expect(end.stdout).toMatch(/moving: \[frozen\] after \d+\.\d s in inspect section commands/)
    expect(end.stdout).toMatch(/stalled meanwhile: frozen \(\d+\.\d s in inspect section commands\)/)
    expect(end.host('frozen').stalled?.where).toBe('inspect section commands')
    expect(end.host('lively').stalled).toBeNull()
  })

  test('a slow login shell is named, and is not the fault of the inspect', async () => {
    const inventory = hostsFile(lab, `slow-${transport}`, { slow: { address: one.address, user: 'slow' } }, transported)
    const end = await drover(
      lab,
      ['run', writePlaybook(lab, 'look', [file('f', '/etc/motd', 'x\n')]), '--check', '--stall-after', '2'],
      {
        inventory,
      },
    )
    expect(end.host('slow').stalled?.where, end.stdout + end.stderr).toBe('the login shell, before inspect began')
  })

  test('a step that hangs on the host is named with its change; a wait that was declared is none', async () => {
    const inventory = hostsFile(lab, `step-${transport}`, { two: two.inventoryEntry }, transported)
    const steps = [
      slow(4, `/etc/slow-${transport}`, { timeout_s: 20 }),
      // What systemctl does by itself has no time of its own.
      { name: 'down', task: 'unit-running', with: { unit: 'hang.service', running: false } },
    ]
    await two.put(
      '/etc/systemd/system/hang.service',
      '[Service]\nExecStart=/bin/sleep infinity\nExecStop=/bin/sleep 5\n',
    )
    await two.must('systemctl daemon-reload; systemctl start hang.service')
    const end = await drover(lab, ['run', writePlaybook(lab, 'hang', steps), '--stall-after', '2'], { inventory })
    expect(end.code, end.stdout + end.stderr).toBe(0)
    const places = end.events.flatMap((event) => (event.type === 'host-stalled' ? [event.where] : []))
    expect(places).toContain("step 'down': systemctl stop hang.service")
    expect(places.filter((place) => place.startsWith("step 'slow'"))).toEqual([])
  })

  describe('which machine a host is', () => {
    test('one under two names is changed under the first alone; a check of both only tells', async () => {
      const names = { first: one.inventoryEntry, second: { address: one.address, port: frozenPort } }
      const inventory = hostsFile(lab, `names-${transport}`, names, transported)
      const mark = `/etc/names-${transport}`
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
      // Both want the change at once.
      const both = await drover(lab, ['run', playbook, '--forks', '2'], { inventory })
      const outcomes = [both.host('first'), both.host('second')].map(({ outcome }) => outcome)
      expect(outcomes.toSorted(), both.stdout + both.stderr).toEqual(['blocked', 'changed'])
    })

    test('two hosts of one address behind two jump hosts never mix: each is changed, and says who it is', async () => {
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
          ...transported,
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
    })
  })
})
