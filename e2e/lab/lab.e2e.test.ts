// The lab itself, proven: every story stands on what is checked here.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost, WORKER_UNIT } from './host.ts'
import { writeInventory } from './inventory.ts'
import { type Lab, openLab } from './lab.ts'
import { sshRun } from './ssh-run.ts'
import { until } from './wait.ts'

let lab: Lab
let rhel: LabHost
let ubuntu: LabHost
let acl: LabHost

beforeAll(async () => {
  lab = await openLab('lab-itself')
  ;[rhel, ubuntu, acl] = await Promise.all([
    lab.boot({ name: 'rhel', image: 'rhel9-like', agent: 'old', worker: 'real' }),
    lab.boot({ name: 'ubuntu', image: 'ubuntu-like', agent: 'old', worker: 'sleep' }),
    lab.boot({ name: 'acl', image: 'acl-like', agent: 'new', worker: 'sleep' }),
  ])
})

afterAll(() => lab?.close())

describe('hosts', () => {
  test('boot whole, each with the systemd it stands in for', async () => {
    const seen = await Promise.all(
      [rhel, ubuntu, acl].map((host) =>
        host.must('systemctl is-system-running; systemctl --version | cut -d" " -f2 | head -n1'),
      ),
    )
    expect(seen).toEqual(['running\n252', 'running\n257', 'running\n257'])
  })

  test('say what they stand in for, and that they are stand-ins', async () => {
    const read = (host: LabHost): Promise<string> =>
      host.must('. /etc/os-release; echo "$ID $VERSION_ID $VARIANT_ID"; echo "$PRETTY_NAME" | grep -c stand-in')
    expect(await Promise.all([rhel, ubuntu, acl].map(read))).toEqual([
      'rocky 9.8 \n1',
      'ubuntu 24.04 \n1',
      'azurelinux 3.0 azurecontainerlinux\n1',
    ])
  })

  test('let the lab key in over SSH, and show the host key that known_hosts has', async () => {
    expect(await Promise.all([rhel, ubuntu, acl].map((host) => sshRun(lab, host, 'sudo -n hostname')))).toEqual([
      'rhel',
      'ubuntu',
      'acl',
    ])
  })

  test('really reboot, all at once, and keep address, host keys and machine id', async () => {
    const all = [rhel, ubuntu, acl]
    const look = (host: LabHost): Promise<[string, string[], string]> =>
      Promise.all([
        host.must('ip -4 -o addr show eth0 | grep -o "inet [0-9.]*"'),
        host.hostKeys(),
        host.must('cat /etc/machine-id'),
      ])
    const before = await Promise.all(all.map(look))
    const starts = await Promise.all(all.map((host) => host.pid1Start()))
    await Promise.all(all.map((host) => host.reboot()))
    expect(await Promise.all(all.map(look))).toEqual(before)
    const after = await Promise.all(all.map((host) => host.pid1Start()))
    expect(after).toEqual(await Promise.all(all.map((host) => host.must('cut -d" " -f22 /proc/1/stat'))))
    for (const [index, start] of starts.entries()) expect(after[index]).not.toBe(start)
    expect(before.map(([address]) => address)).toEqual(all.map((host) => `inet ${host.address}`))
    expect(new Set(before.map(([, keys]) => keys.join())).size).toBe(3)
  })
})

describe('the agent', () => {
  test('is an ELF program under its host root, and the process of the unit', async () => {
    for (const host of [rhel, ubuntu, acl]) {
      const exe = await host.must('readlink "/proc/$(systemctl show -p MainPID --value "$1")/exe"', [AGENT_UNIT])
      expect(exe).toBe(`${host.agentRoot}/lib/aks-flex-node/aks-flex-node-blue`)
      expect(await host.must('head -c 4 "$1" | od -An -c', [exe])).toMatch(/177\s+E\s+L\s+F/)
    }
    expect([rhel.agentRoot, acl.agentRoot]).toEqual(['/usr/local', '/opt/unbounded/agent'])
  })

  test('tells its version in four lines, and preflight in JSON', async () => {
    expect((await rhel.must('/usr/local/bin/aks-flex-node version')).split('\n')).toEqual([
      'AKS Flex Node Agent',
      'Version: v0.2.0',
      expect.stringMatching(/^Git Commit: /),
      expect.stringMatching(/^Build Time: /),
    ])
    const report = JSON.parse(
      await rhel.must('/usr/local/bin/aks-flex-node preflight --config /etc/aks-flex-node/config.json --output json'),
    )
    expect(report).toMatchObject({ status: 'ok', summary: { ok: 3, warnings: 0, errors: 0 } })
  })

  test.each([
    ['old', () => ubuntu, false],
    ['new', () => acl, true],
  ])('%s release: writes its own unit back at every start, and only if it differs', async (_, host, wiresTarget) => {
    const unitFile = `/etc/systemd/system/${AGENT_UNIT}`
    const text = await host().must('cat "$1"', [unitFile])
    expect(text.includes('machines.target')).toBe(wiresTarget)
    await host().must(
      'sed -i "s/^Wants=.*/Wants=elsewhere.target/" "$1" && systemctl daemon-reload && systemctl restart "$2"',
      [unitFile, AGENT_UNIT],
    )
    await until('the agent to rewrite its unit', 10_000, async () =>
      (await host().must('cat "$1"', [unitFile])) === text ? true : undefined,
    )
    await until('its reload', 10_000, async () =>
      (await host().unit(AGENT_UNIT)).Wants.includes('network-online.target') ? true : undefined,
    )
    const inode = await host().must('stat -c %i "$1"', [unitFile])
    await host().must('systemctl restart "$1"', [AGENT_UNIT])
    expect(await host().must('stat -c %i "$1"', [unitFile])).toBe(inode)
  })

  test('has a state whose checksum is right, and a config nobody else may read', async () => {
    expect(
      await rhel.must(
        'cd /etc/aks-flex-node && sha256sum <daemon-state.json | cut -d" " -f1 | cmp - daemon-state.json.sha256 && stat -c %a config.json',
      ),
    ).toBe('600')
    expect(JSON.parse(await rhel.must('cat /etc/aks-flex-node/config.json'))).toMatchObject({
      agent: { nodeName: 'rhel' },
    })
  })

  test('that fails has a recovery unit, which runs and changes nothing', async () => {
    const host = await lab.boot({ name: 'fails', image: 'ubuntu-like', agent: 'exits-42' })
    await until('the recovery unit to run', 20_000, async () =>
      (await host.unit('aks-flex-node-agent-recovery.service')).InvocationID === '' ? undefined : true,
    )
    expect(await host.must('systemctl show -p ExecMainStatus --value "$1"', [AGENT_UNIT])).toBe('42')
    expect(await host.must('readlink -f /usr/local/bin/aks-flex-node')).toBe(
      '/usr/local/lib/aks-flex-node/aks-flex-node-blue',
    )
    await lab.remove('fails')
  })

  test('container variant: not started when containerd fails, while target and worker come up', async () => {
    const host = await lab.boot({
      name: 'boxed',
      image: 'rhel9-like',
      agent: 'new',
      variant: 'container',
      worker: 'sleep',
      offline: '/srv/artifacts',
    })
    expect((await host.unit(AGENT_UNIT)).ActiveState).toBe('active')
    expect(JSON.parse(await host.must('cat /etc/aks-flex-node/config.json'))).toMatchObject({
      bootstrap: { offlineArtifacts: { source: '/srv/artifacts' } },
    })
    await host.must(
      'mkdir /etc/drover-lab && touch /etc/drover-lab/containerd-fails && systemctl enable machines.target',
    )
    await host.reboot()
    const [agent, containerd, worker] = await Promise.all([
      host.unit(AGENT_UNIT),
      host.unit('containerd.service'),
      host.unit(WORKER_UNIT),
    ])
    expect([agent.ActiveState, containerd.ActiveState, worker.ActiveState]).toEqual(['inactive', 'failed', 'active'])
    await lab.remove('boxed')
  })
})

describe('the worker', () => {
  test('real: a machine that runs, and is started again by its unit with the same root', async () => {
    await rhel.must('systemctl start "$1"', [WORKER_UNIT])
    expect(await rhel.must('machinectl show kube1 -p State --value')).toBe('running')
    await until('the worker to finish booting', 30_000, async () =>
      (await rhel.sh('systemctl -M kube1 is-system-running')).stdout.trim() === 'running' ? true : undefined,
    )
    const look =
      'stat -c %i /var/lib/machines/kube1; sha256sum </usr/local/bin/aks-flex-node; sha256sum </var/lib/machines/kube1/usr/local/bin/aks-flex-node'
    const [inode, own, inside] = (await rhel.must(look)).split('\n')
    expect(inside).toBe(own)
    await rhel.must('systemctl restart "$1"', [WORKER_UNIT])
    expect((await rhel.must(look)).split('\n')[0]).toBe(inode)
  })

  test('stuck after a reboot, as in bug #436: enabled, and never started', async () => {
    await rhel.stick()
    expect(await rhel.must('systemctl is-enabled "$1"; systemctl is-enabled machines.target || :', [WORKER_UNIT])).toBe(
      'enabled\ndisabled',
    )
  })

  test('stuck, and helped by a unit that wants machines.target and a restart of the agent', async () => {
    const dropin = `/etc/systemd/system/${AGENT_UNIT}.d/50-test.conf`
    await rhel.put(dropin, '[Unit]\nWants=machines.target\n')
    await rhel.must('systemctl daemon-reload')
    expect((await rhel.unit(WORKER_UNIT)).ActiveState).toBe('inactive')
    await rhel.must('systemctl restart "$1"', [AGENT_UNIT])
    await until('the worker to start', 20_000, async () =>
      (await rhel.unit(WORKER_UNIT)).ActiveState === 'active' ? true : undefined,
    )
    await rhel.reboot()
    expect(await rhel.must('machinectl show kube1 -p State --value')).toBe('running')
  })

  test('dead under an active target: no restart of the agent brings it back', async () => {
    expect((await ubuntu.unit(WORKER_UNIT)).ActiveState).toBe('active')
    await ubuntu.killWorker()
    await ubuntu.must('systemctl restart "$1"', [AGENT_UNIT])
    const [target, worker] = await Promise.all([ubuntu.unit('machines.target'), ubuntu.unit(WORKER_UNIT)])
    expect([target.ActiveState, worker.ActiveState]).toEqual(['active', 'inactive'])
  })
})

describe('acl-like', () => {
  test('denies reset-failed, as its SELinux policy does, and nothing else', async () => {
    const denied = await acl.sh('systemctl reset-failed "$1"', [AGENT_UNIT])
    expect(denied).toMatchObject({ code: 1, stderr: expect.stringContaining('SELinux policy denies access') })
    expect((await acl.sh('systemctl --no-pager reset-failed')).code).toBe(1)
    expect(await acl.must('systemctl is-active "$1"', [AGENT_UNIT])).toBe('active')
  })

  test('has a read-only /usr and no package manager', async () => {
    expect((await acl.sh('touch /usr/x')).stderr).toContain('Read-only file system')
    expect(await acl.must('command -v apt-get dpkg rpm dnf; tdnf install -y x 2>/dev/null; echo $?')).toBe('1')
  })

  test('may be without a VARIANT_ID', async () => {
    const host = await lab.boot({ name: 'bare-acl', image: 'acl-like-no-variant' })
    expect(await host.must('. /etc/os-release; echo "<$VARIANT_ID> $ID_LIKE"')).toBe('<> flatcar')
    await lab.remove('bare-acl')
  })
})

test('the inventory names every host, with become where the user is not root', () => {
  const text = readFileSync(writeInventory(lab), 'utf8')
  expect(text).toMatch(/^# the lab's inventory/)
  expect(text).toContain(`acl:\n        address: ${acl.address}\n        user: core\n        become: true`)
})
