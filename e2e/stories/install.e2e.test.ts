import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type AgentLayout, faultsOf, layoutOf, traces } from '../support/agent-layout.ts'
import { type DroverEnd, drover, execsOf } from '../support/drover.ts'
import { agentArgs, type ReleaseVar, releaseVar } from '../support/releases.ts'
import { expectCode, freeLock, holdLock } from '../support/upgrade.ts'

/**
 * Story: hosts that have no agent get one and join, on systemd 252 and 257 and on an ACL-like host with a read-only
 * /usr (domain.md 11.15 to 11.22; rules M1 to M3, W2).
 */

let lab: Lab
let rhel: LabHost
let ubuntu: LabHost
let acl: LabHost
let good: ReleaseVar

beforeAll(async () => {
  lab = await openLab('install', { yes: true })
  ;[rhel, ubuntu, acl] = await Promise.all([
    // Its packages are missing, and a repository has them.
    lab.boot({ name: 'rhel9', image: 'rhel9-like-bare' }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like' }),
    lab.boot({ name: 'acl3', image: 'acl-like' }),
  ])
  good = await releaseVar(lab, { version: 'v0.4.0' })
})

afterAll(() => lab?.close())

const library = '/usr/local/lib/aks-flex-node'
const token = 'abcdef.0123456789abcdef'
const config = {
  azure: {
    targetCluster: {
      resourceId:
        '/subscriptions/44654aed-2753-4b88-9142-af7132933b6b/resourceGroups/lab/providers/Microsoft.ContainerService/managedClusters/lab',
    },
    bootstrapToken: { token: '${join_token}' },
  },
  node: { kubelet: { clusterFQDN: '127.0.0.1', caCertData: 'TEFC' } },
}
const join = ['-e', JSON.stringify({ config, join_token: { secret: { env: 'JOIN_TOKEN' } } })]
/** What a container is not: a host with 8 GiB, a cluster, and a file system of its own for machines. */
const ignored = ['--ignore-preflight-errors', 'api-server-reachable,disk-space,localdns-conntrack']

const install = (agent: ReleaseVar, ...more: readonly string[]): Promise<DroverEnd> =>
  drover(
    lab,
    ['run', 'install', ...agentArgs(agent), ...join, ...ignored, '-e', 'stable_s=3', '-e', 'within_s=8', ...more],
    { env: { JOIN_TOKEN: token } },
  )

/** A whole agent that runs that release. No worker comes of the stand-in's join, so none carries a binary. */
const expectRuns = async (host: LabHost, version: string): Promise<AgentLayout> => {
  const seen = await layoutOf(host)
  expect(faultsOf({ ...seen, inWorker: 'same' }), host.name).toEqual([])
  expect(seen.version, host.name).toBe(version)
  // The lab keeps the packages there that a repository has for the host.
  const left = (await traces(host)).split('\n').filter((line) => line !== '' && !line.startsWith('/var/lib/drover-lab'))
  expect(left, host.name).toEqual([])
  return seen
}

const all = (): LabHost[] => [rhel, ubuntu, acl]
const blockedAs = (run: DroverEnd, host: LabHost, code: string): void =>
  expect(run.host(host.name), `${run.stdout}\n${run.stderr}`).toMatchObject({ outcome: 'blocked', error: { code } })

/** As `reset` leaves it (domain.md 8): units, configuration and recovery are gone, the layout stays. */
const reset = (host: LabHost): Promise<string> =>
  host.must(
    `systemctl disable --now --quiet "$1"
     rm -f /etc/systemd/system/aks-flex-node-agent.service /etc/systemd/system/aks-flex-node-agent-recovery.service
     rm -f /usr/local/lib/aks-flex-node/aks-flex-node-recovery.sh /opt/unbounded/agent/lib/aks-flex-node/aks-flex-node-recovery.sh
     rm -f /usr/local/bin/unbounded-agent-nspawn-lifecycle /opt/unbounded/agent/bin/unbounded-agent-nspawn-lifecycle
     rm -rf /etc/aks-flex-node /var/log/aks-flex-node
     systemctl daemon-reload`,
    [AGENT_UNIT],
  )

describe('a host without an agent', () => {
  test('that is made from an image is left to Ignition', async () => {
    const run = await install(good, '-l', acl.name)
    blockedAs(run, acl, 'image-managed')
  })

  test('shows in a dry run what it would get, and keeps none of it', async () => {
    const run = await install(good, '-l', ubuntu.name, '-C')
    expectCode(run, 0)
    expect(run.host(ubuntu.name)).toMatchObject({ outcome: 'would-change' })
    expect(await ubuntu.must('ls -d /etc/aks-flex-node /usr/local/lib/aks-flex-node 2>/dev/null || :')).toBe('')
  })

  test('runs no file that somebody else than root may have put there, in a dry run either', async () => {
    const ways: readonly (readonly [what: string, prepare: string])[] = [
      ['a file of a user', 'chown nobody "$1/aks-flex-node-current"'],
      ['a directory of a user', 'chown nobody "$1"'],
      ['a directory that all may write to', 'chmod 1777 "$1"'],
      [
        'a link to what lies with a user',
        'mv "$1/aks-flex-node-current" /tmp/agent && ln -s /tmp/agent "$1/aks-flex-node-current"',
      ],
    ]
    for (const [what, prepare] of ways) {
      await ubuntu.must(
        `mkdir -p "$1" /etc/aks-flex-node && echo '{}' >/etc/aks-flex-node/config.json
         printf '#!/bin/sh\ntouch /run/was-run\necho Version: v6.6.6\n' >"$1/aks-flex-node-current"
         chmod 755 "$1/aks-flex-node-current"
         ${prepare}`,
        [library],
      )
      blockedAs(await install(good, '-l', ubuntu.name, '-C'), ubuntu, 'layout-unknown')
      await drover(lab, ['status', '-l', ubuntu.name])
      expect(await ubuntu.must('ls /run/was-run 2>/dev/null || :'), what).toBe('')
      await ubuntu.must('rm -rf "$1" /etc/aks-flex-node /tmp/agent', [library])
    }
  })

  test('keeps its own configuration only if root alone has it, and so the secret that it names', async () => {
    const secret = '/etc/aks-flex-node/credentials/mine'
    const kept = {
      azure: {
        ...config.azure,
        bootstrapToken: undefined,
        servicePrincipal: { tenantId: 't', clientId: 'c', clientSecretFile: secret },
      },
    }
    const keeping = ['-e', JSON.stringify({ config: null }), '-l', ubuntu.name, '-C']
    await ubuntu.must(
      'mkdir -p /etc/aks-flex-node/credentials && printf %s "$1" >/etc/aks-flex-node/config.json && echo s >"$2" && chmod 644 "$2"',
      [JSON.stringify(kept), secret],
    )
    blockedAs(await install(good, ...keeping), ubuntu, 'config-invalid')
    await ubuntu.must('chmod 600 "$1"', [secret])
    const run = await install(good, ...keeping)
    expectCode(run, 0)
    expect(run.stdout).toContain('/etc/aks-flex-node/config.json to 0600 root:root')
    await ubuntu.must('chown nobody /etc/aks-flex-node/config.json')
    blockedAs(await install(good, ...keeping), ubuntu, 'path-in-the-way')
    await ubuntu.must('rm -rf /etc/aks-flex-node')
  })

  test('gets one, joins, and runs it; what is the host’s stays as it was', async () => {
    await ubuntu.must('printf mine >/usr/local/bin/aks-flex-node && chmod 755 /usr/local/bin/aks-flex-node')
    await acl.must('mkdir -p /opt/unbounded/artifacts && chmod 0750 /opt/unbounded && touch /opt/unbounded/artifacts/a')
    const run = await install(good, '-e', 'force_ssh_install=true')
    expectCode(run, 0)
    for (const host of all()) {
      const seen = await expectRuns(host, 'v0.4.0')
      expect(seen.root).toBe(host === acl ? '/opt/unbounded/agent' : '/usr/local')
      expect(await host.must('stat -c "%a %U:%G" /etc/aks-flex-node/config.json')).toBe('600 root:root')
      expect(await host.must('cat /etc/aks-flex-node/config.json')).toContain(token)
      expect(await host.must('systemctl is-enabled "$1"', [AGENT_UNIT])).toBe('enabled')
      expect(
        await host.must(
          'cmp "$1/bin/unbounded-agent-nspawn-lifecycle" "$1/lib/aks-flex-node/aks-flex-node-current" && echo same',
          [seen.root],
        ),
      ).toBe('same')
    }
    expect(await ubuntu.must('cat /usr/local/bin/aks-flex-node.drover-backup')).toBe('mine')
    expect(run.stdout).toContain('aks-flex-node.drover-backup')
    expect(await acl.must('stat -c %a /opt/unbounded && ls /opt/unbounded/artifacts')).toBe('750\na')
    expect(await rhel.must('command -v systemd-nspawn')).not.toBe('')
    expect(`${run.stdout}${run.stderr}${JSON.stringify(run.events)}${JSON.stringify(run.report)}`).not.toContain(token)
  })

  test('has nothing left to do the second time, at the price of one command', async () => {
    const run = await install(good)
    expectCode(run, 0)
    for (const host of all()) {
      expect(run.host(host.name).outcome).toBe('unchanged')
      expect(execsOf(run, host.name)).toEqual(['inspect'])
    }
  })
})

describe('a host that has one', () => {
  test('is not given another release, nor another configuration', async () => {
    const other = await releaseVar(lab, { version: 'v0.4.1' })
    blockedAs(await install(other, '-l', ubuntu.name), ubuntu, 'already-installed')
    const changed = JSON.stringify({ config: { ...config, agent: { logLevel: 'debug' } } })
    blockedAs(await install(good, '-l', ubuntu.name, '-e', changed), ubuntu, 'already-installed')
    await expectRuns(ubuntu, 'v0.4.0')
  })

  test('and was stopped by somebody stays stopped', async () => {
    await ubuntu.must('systemctl stop "$1"', [AGENT_UNIT])
    const run = await install(good, '-l', ubuntu.name)
    expectCode(run, 0)
    expect(run.host(ubuntu.name).outcome).toBe('unchanged')
    expect(run.stdout).toContain('somebody stopped it')
    await ubuntu.must('systemctl disable --quiet "$1"', [AGENT_UNIT])
    const again = await install(good, '-l', ubuntu.name)
    expectCode(again, 2)
    const { outcome, error } = again.host(ubuntu.name)
    expect([outcome, error?.code, error?.message]).toEqual([
      'blocked',
      'precondition-unmet',
      expect.stringContaining('neither runs nor is enabled'),
    ])
    expect(await ubuntu.must('systemctl is-active "$1"; systemctl is-enabled "$1"; :', [AGENT_UNIT])).toBe(
      'inactive\ndisabled',
    )
    await ubuntu.must('systemctl enable --now --quiet "$1"', [AGENT_UNIT])
  })

  test('and lost its state is not joined again', async () => {
    await ubuntu.must('cd /etc/aks-flex-node && mkdir /run/state && mv daemon-state.json* /run/state')
    const run = await install(good, '-l', ubuntu.name)
    blockedAs(run, ubuntu, 'state-unreadable')
    expect(await ubuntu.must('ls /etc/aks-flex-node/daemon-state.json 2>/dev/null || :')).toBe('')
    await ubuntu.must('mv /run/state/* /etc/aks-flex-node && rmdir /run/state')
    expectCode(await install(good, '-l', ubuntu.name), 0)
  })

  test('gets one again after a reset that kept the layout, another release too', async () => {
    await Promise.all(all().map(reset))
    const next = await releaseVar(lab, { version: 'v0.4.1' })
    await holdLock(ubuntu)
    blockedAs(await install(next, '-l', ubuntu.name), ubuntu, 'activation-locked')
    await freeLock(ubuntu)
    const run = await install(next)
    expectCode(run, 0)
    for (const host of all())
      expect((await expectRuns(host, 'v0.4.1')).root).toBe(host === acl ? '/opt/unbounded/agent' : '/usr/local')
  })
})

describe('a release that does not do', () => {
  test('by its own preflight gets no unit', async () => {
    await reset(ubuntu)
    for (const [preflight, code] of [
      ['fails', 'preflight-failed'],
      ['silent', 'preflight-could-not-run'],
    ] as const) {
      const run = await install(await releaseVar(lab, { version: 'v0.4.2', preflight }), '-l', ubuntu.name)
      expect(run.host(ubuntu.name).error?.code, run.stdout).toBe(code)
      expect(await ubuntu.must('ls /etc/systemd/system/aks-flex-node* 2>/dev/null || :')).toBe('')
    }
  })

  test('by its version is never named by anything', async () => {
    const lying = await releaseVar(lab, { version: 'v0.4.3' })
    const run = await install({ ...lying, version: 'v9.9.9' }, '-l', ubuntu.name)
    expect(run.host(ubuntu.name)).toMatchObject({ outcome: 'failed', error: { code: 'candidate-unfit' } })
    expect(await ubuntu.must('ls /etc/systemd/system/aks-flex-node* 2>/dev/null || :')).toBe('')
  })

  test('that crashes as an agent ends as a failed host, with the agent’s own words', async () => {
    const run = await install(await releaseVar(lab, { version: 'v0.4.4', behaviour: 'exits-42' }), '-l', ubuntu.name)
    expect(run.host(ubuntu.name), run.stdout).toMatchObject({ outcome: 'failed', error: { code: 'agent-unhealthy' } })
    expect(run.host(ubuntu.name).error?.detail).toContain('cannot reach the cluster')
  })
})
