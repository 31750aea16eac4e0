import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../../src/tasks/agent/paths.ts'
import { buildAgent } from '../lab/agent/build.ts'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import type { ImageName } from '../lab/images.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { faultsOf, layoutOf } from '../support/agent-layout.ts'
import { type AgentSource, type Archive, MEMBER, openAgentSource, pack } from '../support/bootstrap.ts'
import { applyUserData } from '../support/cloud-init.ts'
import { applyIgnition } from '../support/ignition.ts'
import { ignitionOf, PROBE, userDataOf } from '../support/provisioned.ts'
import { property } from '../support/units.ts'

/** Story: a host without an agent is provisioned by Ignition and boots for the first time (domain.md 10, 11.46, 11.47; rules M9, M10). */

const UNIT = 'aks-flex-node-bootstrap.service'
const FILES = '/etc/aks-flex-node/first-boot'
let lab: Lab
let source: AgentSource
let good: Archive
let other: Archive
let plain: LabHost

beforeAll(async () => {
  lab = await openLab('first-boot', { yes: true })
  plain = await lab.boot({ name: 'plain', image: 'rhel9-like' })
  source = await openAgentSource(lab, plain)
  const version = 'v0.4.0'
  good = await pack(lab, 'good', { [MEMBER]: readFileSync(await buildAgent({ version })) })
  other = await pack(lab, 'other', { [MEMBER]: readFileSync(await buildAgent({ version: 'v0.4.1' })) })
})

afterAll(async () => {
  await source?.close()
  await lab?.close()
})

interface Shortened {
  /** Lines of [Service], laid over the unit's own. */
  readonly service?: string
}

/** A host that was provisioned and has not booted since; the archive is asked for at a path of its own. */
const provisioned = async (name: string, image: ImageName, { service = '' }: Shortened = {}): Promise<LabHost> => {
  const host = await lab.boot({ name, image })
  const ignition = await ignitionOf(lab, host, {
    url: source.urlOf(`/${name}`),
    sha256: good.sha256,
    version: 'v0.4.0',
  })
  await applyIgnition(host, ignition)
  await trust(host, service)
  return host
}

/** Nobody but the lab vouches for its server. */
const trust = async (host: LabHost, service = ''): Promise<void> => {
  await host.put('/root/lab/ca.crt', source.certificate)
  await host.put(
    `/etc/systemd/system/${UNIT}.d/50-story.conf`,
    `[Service]\nEnvironment=CURL_CA_BUNDLE=/root/lab/ca.crt\n${service}\n`,
  )
}

const show = async (host: LabHost, ...names: string[]): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(names.map(async (name): Promise<[string, string]> => [name, await property(host, UNIT, name)])),
  )
const untilState = (host: LabHost, wanted: string): Promise<true> =>
  until(`${UNIT} on ${host.name} to be ${wanted}`, 60_000, async () => {
    const { ActiveState, SubState } = await show(host, 'ActiveState', 'SubState')
    return `${ActiveState} ${SubState}` === wanted ? true : undefined
  })

interface Entry {
  readonly id: string
  readonly ms: number
}
const FAILED = 'd9b373ed55a64feb8242e02dbe79a49c'
const RESTARTS = '5eb03494b6584870a536b337290809b3'
/** From each failure to the restart that follows, in milliseconds, as systemd wrote both down. */
const delays = async (host: LabHost): Promise<number[]> => {
  const lines = await host.must('journalctl --no-pager -o json _PID=1 UNIT="$1"', [UNIT])
  const entries = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, string>)
    .map((entry): Entry => ({ id: entry.MESSAGE_ID ?? '', ms: Number(entry.__MONOTONIC_TIMESTAMP) / 1000 }))
  return entries.flatMap(({ id, ms }, index) => {
    const failed = entries.slice(0, index).findLast((before) => before.id === FAILED)
    return id === RESTARTS && failed !== undefined ? [ms - failed.ms] : []
  })
}

describe.each([
  ['rhel9-like', '/usr/local'],
  ['ubuntu-like', '/usr/local'],
  ['acl-like', ROOT],
] as const)('the first boot of %s', (image, root) => {
  const name = `first-${image.replace(/-.*/, '')}`

  test('11.46 ends with an agent that runs, its configuration as it was meant, and none of the files left', async () => {
    const host = await provisioned(name, image)
    source.serve(`/${name}`, good.bytes)
    expect(await host.must('stat -c "%a %n" "$1" "$1"/*', [FILES])).toBe(
      [`700 ${FILES}`, `600 ${FILES}/base-config.json`, `600 ${FILES}/bootstrap.env`, `700 ${FILES}/bootstrap.sh`].join(
        '\n',
      ),
    )
    await host.reboot()
    await untilState(host, 'active exited')
    expect(await show(host, 'Result', 'ExecMainStatus', 'NRestarts')).toEqual({
      Result: 'success',
      ExecMainStatus: '0',
      NRestarts: '0',
    })
    expect(await host.must('ls -d "$1" 2>/dev/null || :', [FILES])).toBe('')
    expect(await host.must('stat -c "%a %U:%G" /etc/aks-flex-node/config.json')).toBe('600 root:root')
    const config = JSON.parse(await host.must('cat /etc/aks-flex-node/config.json'))
    expect(config.bootstrap.ociImage).toBe(PROBE)
    expect(config.agent.nodeName).toBe(host.name)
    const seen = await layoutOf(host)
    expect([seen.root, seen.version, faultsOf({ ...seen, inWorker: 'same' })]).toEqual([root, 'v0.4.0', []])
    expect((await host.unit(AGENT_UNIT)).ActiveState).toBe('active')
  })

  test('11.44 11.46 is the only one: the next boot skips the unit, and the agent runs', async () => {
    const host = lab.host(name)
    const asked = source.requests.length
    await host.reboot()
    await until('the condition to be looked at', 30_000, async () =>
      (await property(host, UNIT, 'ConditionTimestampMonotonic')) === '0' ? undefined : true,
    )
    expect(await show(host, 'ConditionResult', 'InvocationID', 'ActiveState')).toEqual({
      ConditionResult: 'no',
      InvocationID: '',
      ActiveState: 'inactive',
    })
    expect((await host.unit(AGENT_UNIT)).ActiveState).toBe('active')
    expect(source.requests.length).toBe(asked)
  })
})

describe('a bootstrap that fails', () => {
  const shortened = { service: 'RestartSec=1s\nRestartSteps=3\nRestartMaxDelaySec=8s' }

  test.each([
    ['ubuntu-like', true],
    ['rhel9-like', false],
  ] as const)(
    '11.47 is tried again and again on %s, with growing delays: %s; the host boots all the same',
    async (image, grows) => {
      const name = `fails-${image.replace(/-.*/, '')}`
      const host = await provisioned(name, image, shortened)
      source.serve(`/${name}`, 404)
      await host.reboot()
      expect(await property(host, 'multi-user.target', 'ActiveState')).toBe('active')
      const [one, two, three] = (await until('four attempts', 60_000, async () => {
        const seen = await delays(host)
        return seen.length >= 3 ? seen : undefined
      })) as [number, number, number]
      const shown = `delays in ms: ${[one, two, three].map(Math.round)}`
      // systemd may be late, never early.
      expect(one, shown).toBeGreaterThanOrEqual(990)
      if (grows) {
        expect(two, shown).toBeGreaterThanOrEqual(1.5 * 990)
        expect(three, shown).toBeGreaterThanOrEqual(two + 500)
      } else {
        // With a back-off the third would be four seconds.
        expect(three, shown).toBeLessThan(3000)
      }
      expect(await host.must('ls "$1"', [FILES])).toContain('bootstrap.sh')
      source.serve(`/${name}`, good.bytes)
      await untilState(host, 'active exited')
      expect((await host.unit(AGENT_UNIT)).ActiveState).toBe('active')
    },
  )

  test.each(['ubuntu-like', 'rhel9-like'] as const)('11.47 is failed when it hangs on %s', async (image) => {
    const name = `hangs-${image.replace(/-.*/, '')}`
    const host = await provisioned(name, image, { service: 'TimeoutStartSec=4s\nRestartSec=1s\nRestartMaxDelaySec=2s' })
    source.serve(`/${name}`, 'silence')
    await host.reboot()
    expect(await property(host, 'multi-user.target', 'ActiveState')).toBe('active')
    await until('the journal to say so', 30_000, async () =>
      (await host.must('journalctl --no-pager -u "$1"', [UNIT])).includes("Failed with result 'timeout'")
        ? true
        : undefined,
    )
    expect(await host.must('ls -A /tmp /usr/local/bin')).not.toMatch(/tmp\.|\.aks-flex-node/)
  })

  test.each(['ubuntu-like', 'rhel9-like', 'acl-like'] as const)('for good is not tried again on %s', async (image) => {
    const name = `final-${image.replace(/-.*/, '')}`
    const host = await provisioned(name, image, shortened)
    source.serve(`/${name}`, other.bytes)
    await host.reboot()
    // A unit that systemd means to start again is `activating auto-restart`.
    await untilState(host, 'failed failed')
    expect(await show(host, 'Result', 'ExecMainStatus', 'NRestarts')).toEqual({
      Result: 'exit-code',
      ExecMainStatus: '78',
      NRestarts: '0',
    })
    expect(await property(host, 'multi-user.target', 'ActiveState')).toBe('active')
    expect(await host.must('journalctl --no-pager -u "$1"', [UNIT])).toContain('This is not tried again')
  })
})

describe('the unit', () => {
  test.each([
    ['first-rhel9', ['RestartMaxDelaySec', 'RestartSteps']],
    ['first-ubuntu', []],
  ] as const)('M10 is understood by systemd, on %s save for %j', async (name, unknown) => {
    const { stdout, stderr } = await lab
      .host(name)
      .sh('systemd-analyze verify --man=no "/etc/systemd/system/$1" 2>&1', [UNIT])
    // systemd warns of every unit that it loads along the way.
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(UNIT))
    expect(lines.map((line) => /Unknown key(?: name)? '(\w+)'/.exec(line)?.[1] ?? line).sort()).toEqual(unknown)
  })

  test('M10 has a back-off from ten seconds to five minutes, and gives one attempt half an hour', async () => {
    const host = lab.host('first-ubuntu')
    expect(
      await show(
        host,
        'RestartUSec',
        'RestartSteps',
        'RestartMaxDelayUSec',
        'TimeoutStartUSec',
        'RestartPreventExitStatus',
      ),
    ).toEqual({
      RestartUSec: '10s',
      RestartSteps: '10',
      RestartMaxDelayUSec: '5min',
      TimeoutStartUSec: '30min',
      RestartPreventExitStatus: '78',
    })
  })
})

test('cloud-init does the same with its user-data', async () => {
  const name = 'cloud'
  const host = await lab.boot({ name, image: 'ubuntu-like' })
  const agent = { url: source.urlOf(`/${name}`), sha256: good.sha256, version: 'v0.4.0' }
  source.serve(`/${name}`, good.bytes)
  await trust(host)
  await applyUserData(host, await userDataOf(lab, host, agent))
  await untilState(host, 'active exited')
  expect(await host.must('ls -d "$1" 2>/dev/null || :', [FILES])).toBe('')
  expect(JSON.parse(await host.must('cat /etc/aks-flex-node/config.json')).bootstrap.ociImage).toBe(PROBE)
  expect((await host.unit(AGENT_UNIT)).ActiveState).toBe('active')
})

test('11.48 a reset of the agent’s own stops the unit and takes it away, so that the next boot does not bring the agent back', async () => {
  const host = await provisioned('reset', 'ubuntu-like')
  source.serve('/reset', good.bytes)
  await host.reboot()
  await untilState(host, 'active exited')
  await host.must('/usr/local/bin/aks-flex-node reset')
  expect(await show(host, 'LoadState', 'ActiveState')).toEqual({ LoadState: 'not-found', ActiveState: 'inactive' })
  await host.must('rm -rf "/etc/systemd/system/$1.d"', [UNIT])
  await host.reboot()
  expect((await host.unit(AGENT_UNIT)).LoadState).toBe('not-found')
  expect(await host.must('ls /etc/systemd/system/multi-user.target.wants')).not.toContain(UNIT)
})
