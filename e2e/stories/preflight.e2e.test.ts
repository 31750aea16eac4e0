import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type DroverEnd, drover, execsOf } from '../support/drover.ts'
import { makeTarget, type TargetState } from '../support/target-states.ts'

/** Story: may these hosts be bootstrapped? The preflight of PR #437 and what else domain.md 4 asks (11.9 to 11.14, W6, W7). */

let lab: Lab
/** As PR #437 found a RHEL 9: systemd-container is missing, and a repository has it. */
let bare: LabHost
/** Fresh hosts with systemd 252 and 257. */
let fresh: LabHost[]
let deployed: LabHost

beforeAll(async () => {
  lab = await openLab('preflight', { yes: true })
  let systemd252: LabHost
  let systemd257: LabHost
  ;[bare, systemd252, systemd257, deployed] = await Promise.all([
    lab.boot({ name: 'bare', image: 'rhel9-like-bare' }),
    lab.boot({ name: 'fresh252', image: 'rhel9-like' }),
    lab.boot({ name: 'fresh257', image: 'ubuntu-like' }),
    lab.boot({ name: 'deployed', image: 'rhel9-like', agent: 'old', worker: 'sleep' }),
  ])
  fresh = [systemd252, systemd257]
})

afterAll(() => lab?.close())

interface Mode {
  variant: 'host' | 'container'
  offline: boolean
}
const modes: readonly Mode[] = [
  { variant: 'host', offline: false },
  { variant: 'host', offline: true },
  { variant: 'container', offline: false },
  { variant: 'container', offline: true },
]
const online = modes[0] as Mode
const offline = modes[1] as Mode
const called = (mode: Mode): string => `${mode.variant}-${mode.offline ? 'offline' : 'online'}`

/** An inventory of some hosts, each in a mode. */
const inventory = (name: string, hosts: readonly (readonly [LabHost, Mode])[]): string => {
  const file = join(lab.folder, `${name}.yaml`)
  const entries = hosts.map(([host, mode]) => [host.name, { ...host.inventoryEntry, ...mode }])
  writeFileSync(
    file,
    stringify({ known_hosts: './known_hosts', identity_file: './id_ed25519', hosts: Object.fromEntries(entries) }),
  )
  return file
}

const preflight = (hosts: readonly LabHost[], mode: Mode, ...more: string[]): Promise<DroverEnd> =>
  drover(lab, ['run', 'preflight', ...more], {
    inventory: inventory(
      called(mode),
      hosts.map((host) => [host, mode]),
    ),
  })

const checks = (end: DroverEnd, host: LabHost) => {
  const { preflight: found } = end.host(host.name)
  if (found === undefined)
    throw new Error(`no preflight of ${host.name}, drover ended with ${end.code}: ${end.stdout}${end.stderr}`)
  return found.checks
}
const check = (end: DroverEnd, host: LabHost, name: string) => {
  const found = checks(end, host).filter((one) => one.name === name)
  expect(found, `${name} of ${host.name}`).toHaveLength(1)
  return found[0]
}
const errors = (end: DroverEnd, host: LabHost): string[] =>
  checks(end, host).flatMap(({ name, severity }) => (severity === 'error' ? [name] : []))

/** What PR #437 ran its reproducer with: placeholders, the API server among them. And every kind of secret (domain.md 9.6). */
const secrets = ['abcdef.0123456789abcdef', 'cl13nt/s3cr3t+of=the"lab', 'bm90IGEgY2VydGlmaWNhdGUgYXQgYWxs']
// Nobody answers there, which needs no name service and no patience.
const apiServer = '127.9.8.7:6443'
const config = (bootstrap: object = {}): string =>
  JSON.stringify({
    azure: {
      targetCluster: { resourceId: '/subscriptions/0/resourceGroups/lab' },
      bootstrapToken: { token: secrets[0] },
      servicePrincipal: { clientSecret: secrets[1] },
    },
    bootstrap,
    node: { kubelet: { clusterFQDN: apiServer, caCertData: secrets[2] } },
  })
const putConfig = (host: LabHost, text: string): Promise<void> =>
  host.put('/etc/aks-flex-node/config.json', text, '0600')
const dropConfig = (host: LabHost): Promise<string> => host.must('rm -rf /etc/aks-flex-node')

describe('a fresh RHEL 9 without systemd-container', () => {
  const ignored = ['--ignore-preflight-errors', 'api-server-reachable,host-os-configuration']
  const missing = {
    severity: 'warning',
    ignored: false,
    message: expect.stringMatching(/may install systemd-container/),
  }

  test('11.9 online: machines-target is a warning, and exit 0 with the two checks ignored that only the environment fails', async () => {
    await putConfig(bare, config())
    // As in the image of the PR, which has none.
    await bare.must('mv /etc/sysctl.d /etc/sysctl.gone')
    const strict = await preflight([bare], online)
    expect(strict.code, strict.stdout).toBe(2)
    expect(errors(strict, bare)).toEqual(['host-os-configuration', 'api-server-reachable'])

    const run = await preflight([bare], online, ...ignored)
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(run.host('bare')).toMatchObject({
      outcome: 'unchanged',
      preflight: { status: 'ok', summary: { errors: 0 } },
    })
    expect(check(run, bare, 'machines-target')).toEqual({
      name: 'machines-target',
      target: 'machines.target',
      ...missing,
    })
    for (const name of ['host-os-configuration', 'api-server-reachable'])
      expect(check(run, bare, name)).toMatchObject({ severity: 'warning', ignored: true })
    expect(check(run, bare, 'host-packages')).toMatchObject({
      severity: 'warning',
      message: 'required host packages are missing and may be installed by bootstrap: systemd-container',
    })
    expect(check(run, bare, 'nspawn-runtime')).toMatchObject({ severity: 'warning' })
    await bare.must('mv /etc/sysctl.gone /etc/sysctl.d; rm -rf /etc/aks-flex-node')
  })

  test('11.9 online without a config.json: nothing is ignored, and exit 0', async () => {
    const run = await preflight([bare], online)
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(check(run, bare, 'machines-target')).toMatchObject(missing)
    expect(checks(run, bare).filter((one) => one.ignored)).toEqual([])
    expect(check(run, bare, 'api-server-reachable')).toMatchObject({
      severity: 'ok',
      message: expect.stringMatching(/^not-run: /),
    })
  })

  test('11.10 offline: machines-target is an error that names systemd-container, exit 2 and status failed', async () => {
    const run = await preflight([bare], offline)
    expect(run.code, run.stdout + run.stderr).toBe(2)
    const host = run.host('bare')
    expect(host).toMatchObject({
      outcome: 'failed',
      error: { code: 'preflight-failed' },
      preflight: { status: 'failed' },
    })
    expect(errors(run, bare)).toEqual(['host-packages', 'nspawn-runtime', 'machines-target'])
    expect(check(run, bare, 'machines-target')?.message).toMatch(/systemd-container/)
    const { remedy } = host.findings.find((finding) => finding.check === 'machines-target') ?? {}
    expect(remedy).toBe('Install systemd-container before bootstrap.')
    expect(run.stdout).toContain(remedy)
  })

  test('11.9 and 11.10 with systemd-container installed by dnf: the target is disabled, a warning, online and offline', async () => {
    await bare.must('dnf -y -q install systemd-container')
    const [on, off] = await Promise.all([preflight([bare], online), preflight([bare], offline)])
    for (const run of [on, off]) {
      expect(run.code, run.stdout + run.stderr).toBe(0)
      expect(run.host('bare').preflight?.status).toBe('ok')
      expect(check(run, bare, 'machines-target')).toMatchObject({
        severity: 'warning',
        message: expect.stringMatching(
          /^machines.target is not enabled persistently; .*Wants=machines.target.*UnitFileState=disabled/,
        ),
      })
      expect(check(run, bare, 'host-packages')).toMatchObject({ severity: 'ok' })
      expect(check(run, bare, 'nspawn-runtime')).toMatchObject({ severity: 'ok' })
    }
  })
})

describe('machines.target, on systemd 252 and 257', () => {
  const make = async (state: TargetState): Promise<void> =>
    void (await Promise.all(fresh.map((host) => makeTarget(host, state))))

  test.each(['masked', 'masked-runtime', 'an empty file'] as const)(
    '11.11 %s is an error in all four modes, which says that bootstrap does not unmask',
    async (state) => {
      await make(state)
      const runs = await Promise.all(modes.map((mode) => preflight(fresh, mode)))
      for (const [index, run] of runs.entries()) {
        for (const host of fresh) {
          expect(run.code).toBe(2)
          expect(errors(run, host), `${called(modes[index] as Mode)} ${host.name}`).toEqual(['machines-target'])
          expect(check(run, host, 'machines-target')?.message).toMatch(/ is masked, and bootstrap does not unmask it /)
          expect(run.host(host.name).error?.remedy).toContain('systemctl unmask machines.target')
        }
      }
    },
  )

  test('11.11 missing is a warning online on a native host, and an error in the other three modes', async () => {
    await make('missing')
    const runs = await Promise.all(modes.map((mode) => preflight(fresh, mode)))
    for (const [index, run] of runs.entries()) {
      const severity = index === 0 ? 'warning' : 'error'
      expect(run.code).toBe(index === 0 ? 0 : 2)
      for (const host of fresh)
        expect(check(run, host, 'machines-target'), `${called(modes[index] as Mode)} ${host.name}`).toMatchObject({
          severity,
          message: expect.stringMatching(/ is missing.*systemd-container/),
        })
    }
  })

  test.each([
    ['enabled', 'ok', /^machines.target is enabled$/],
    ['linked', 'ok', /is linked; .*UnitFileState=linked/],
    ['disabled', 'warning', /not enabled persistently.*UnitFileState=disabled/],
    ['enabled-runtime', 'warning', /not enabled persistently.*UnitFileState=enabled-runtime/],
    ['linked-runtime', 'warning', /in \/run only.*not enabled persistently.*UnitFileState=linked-runtime/],
    ['static', 'error', /unexpected state: static /],
    ['indirect', 'error', /unexpected state: indirect /],
    ['generated', 'error', /unexpected state: generated /],
    ['alias', 'error', /unexpected state: alias of remote-fs\.target /],
  ] as const)('11.12 %s: %s', async (state, severity, message) => {
    await make(state)
    const run = await preflight(fresh, online)
    expect(run.code, run.stdout + run.stderr).toBe(severity === 'error' ? 2 : 0)
    for (const host of fresh) {
      const found = check(run, host, 'machines-target')
      expect(found, host.name).toMatchObject({ severity, target: 'machines.target', ignored: false })
      expect(found?.message, host.name).toMatch(message)
      if (severity === 'error') expect(errors(run, host)).toEqual(['machines-target'])
    }
  })

  const real = '/usr/bin/systemctl'
  const front = '/usr/local/sbin/systemctl'
  const deaf = '#!/bin/sh\\necho "Failed to connect to bus: Connection refused" >&2; exit 1\\n'
  test.each([
    ['may not be executed', `chmod a-x ${real}`, `chmod a+x ${real}`, /ended with 126: .*Permission denied/],
    [
      'is not there',
      `mv ${real} ${real}.gone`,
      `mv ${real}.gone ${real}`,
      /ended with 127: .*No such file or directory/,
    ],
    [
      'gets no answer',
      `printf '${deaf}' >${front}; chmod 0755 ${front}`,
      `rm ${front}`,
      /ended with 1: Failed to connect to bus: Connection refused/,
    ],
  ])('11.13 a systemctl that %s: an error that names the cause', async (_, breakIt, mendIt, cause) => {
    await make('enabled')
    try {
      await Promise.all(fresh.map((host) => host.must(breakIt)))
      const run = await preflight(fresh, online)
      expect(run.code, run.stdout + run.stderr).toBe(2)
      for (const host of fresh) {
        expect(errors(run, host), host.name).toContain('machines-target')
        expect(check(run, host, 'machines-target')?.message, host.name).toMatch(cause)
        expect(run.host(host.name).error?.detail, host.name).toMatch(cause)
      }
    } finally {
      await Promise.all(fresh.map((host) => host.must(mendIt)))
    }
    expect((await preflight(fresh, online)).code).toBe(0)
  })

  test('11.14 the ignore list makes an error a warning with ignored: true, --fail-on-warnings then fails all the same', async () => {
    await make('masked')
    const lists = [
      ['machines-target'],
      ['  Swap-Active , MACHINES-target'],
      ['swap-active', 'machines-target'],
      ['all'],
    ]
    const ignore = (list: readonly string[]): string[] => list.flatMap((names) => ['--ignore-preflight-errors', names])
    for (const list of lists) {
      const run = await preflight(fresh, online, ...ignore(list))
      expect(run.code, run.stdout + run.stderr).toBe(0)
      for (const host of fresh) {
        expect(run.host(host.name).preflight).toMatchObject({ status: 'ok', summary: { errors: 0, warnings: 1 } })
        expect(check(run, host, 'machines-target')).toMatchObject({ severity: 'warning', ignored: true })
      }
    }
    for (const list of lists.slice(1)) {
      const run = await preflight(fresh, online, ...ignore(list), '--fail-on-warnings')
      expect(run.code, run.stdout + run.stderr).toBe(2)
      for (const host of fresh) {
        expect(run.host(host.name).preflight).toMatchObject({ status: 'failed', summary: { errors: 0, warnings: 1 } })
        expect(check(run, host, 'machines-target')).toMatchObject({ severity: 'warning', ignored: true })
      }
    }
    const other = await preflight(fresh, online, ...ignore(['swap-active']))
    expect(other.code).toBe(2)
  })

  test('W6 where config.json and inventory disagree on offline, config.json decides and the disagreement is a warning', async () => {
    await make('missing')
    const [saysOffline, saysOnline] = fresh as [LabHost, LabHost]
    await putConfig(saysOffline, config({ offlineArtifacts: { source: '/var/lib/unbounded/offline-artifacts' } }))
    await putConfig(saysOnline, config())
    const file = inventory('disagreeing', [
      [saysOffline, online],
      [saysOnline, offline],
    ])
    const run = await drover(lab, ['run', 'preflight', '--ignore-preflight-errors', 'api-server-reachable'], {
      inventory: file,
    })
    expect(run.code, run.stdout + run.stderr).toBe(2)
    expect(errors(run, saysOffline)).toEqual(['machines-target'])
    expect(run.host(saysOnline.name).outcome).toBe('unchanged')
    expect(check(run, saysOnline, 'machines-target')).toMatchObject({ severity: 'warning', ignored: false })
    expect(check(run, saysOffline, 'offline-disagreement')).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(/says offline, the inventory says online; config\.json decides/),
    })
    expect(check(run, saysOnline, 'offline-disagreement')).toMatchObject({ severity: 'warning' })
    await Promise.all(fresh.map(dropConfig))
    await make('enabled')
  })
})

describe('a deployed host', () => {
  test('W7 an existing deployment and ports in use are warnings, never a failure', async () => {
    await deployed.must(
      'systemd-run --quiet --unit=lab-ports systemd-socket-activate -l 10250 -l 10257 /bin/cat; until ss -Hltn | grep -q :10257; do sleep 0.1; done',
    )
    const run = await preflight([deployed], online, '--ignore-preflight-errors', 'api-server-reachable')
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(run.host('deployed')).toMatchObject({ outcome: 'unchanged', preflight: { status: 'ok' } })
    expect(check(run, deployed, 'existing-deployment')).toMatchObject({
      severity: 'warning',
      ignored: false,
      message: expect.stringMatching(new RegExp(`${AGENT_UNIT}.*/var/lib/machines/kube1`)),
    })
    for (const name of ['kubelet-bind-address', 'containerd-metrics-bind-address'])
      expect(check(run, deployed, name)).toMatchObject({
        severity: 'warning',
        ignored: false,
        message: expect.stringMatching(/in use by systemd-socket/),
      })
    await deployed.must('systemctl stop lab-ports.service')
  })

  test('the same ports are errors on a fresh host, and so is what a deployment left without its agent', async () => {
    const [host] = fresh as [LabHost]
    await host.must(
      'mkdir -p /var/lib/machines/kube2; systemd-run --quiet --unit=lab-ports systemd-socket-activate -l 10250 /bin/cat; until ss -Hltn | grep -q :10250; do sleep 0.1; done',
    )
    const run = await preflight([host], online)
    expect(run.code, run.stdout + run.stderr).toBe(2)
    expect(errors(run, host)).toEqual(['existing-deployment', 'kubelet-bind-address'])
    expect(check(run, host, 'existing-deployment')?.message).toContain('/var/lib/machines/kube2')
    await host.must('rmdir /var/lib/machines/kube2; systemctl stop lab-ports.service')
  })
})

describe('what preflight tells and leaves behind', () => {
  const published = JSON.parse(readFileSync(new URL('../../docs/report.schema.json', import.meta.url), 'utf8'))
  // Formats are zod's to check; ajv would want another package for them.
  const validate = new Ajv2020({ validateFormats: false, allErrors: true }).compile(published)

  test('--output json is the report and keeps to docs/report.schema.json; preflight has the fields of domain.md 2.3 and no other', async () => {
    const all = [...fresh, bare, deployed]
    await makeTarget(fresh[0] as LabHost, 'masked')
    const run = await preflight(all, online, '--output', 'json')
    expect(run.code, run.stdout + run.stderr).toBe(2)
    const printed = JSON.parse(run.stdout)
    expect(validate(printed), JSON.stringify(validate.errors)).toBe(true)
    expect(printed).toEqual(run.report)
    expect(printed.preflight.hosts).toEqual({ ok: 2, failed: 2, notRun: 0 })
    for (const host of all) {
      const { preflight: found } = run.host(host.name)
      expect(Object.keys(found ?? {})).toEqual(['status', 'checks', 'summary'])
      expect(Object.keys(found?.summary ?? {})).toEqual(['ok', 'warnings', 'errors'])
      const fields = new Set(found?.checks.map((one) => Object.keys(one).join()))
      expect([...fields]).toEqual(['name,target,severity,message,ignored'])
      const count = (severity: string): number => found?.checks.filter((one) => one.severity === severity).length ?? -1
      expect(found?.summary).toEqual({ ok: count('ok'), warnings: count('warning'), errors: count('error') })
      expect(found?.status).toBe(count('error') > 0 ? 'failed' : 'ok')
    }
    await makeTarget(fresh[0] as LabHost, 'enabled')
  })

  test('no secret of config.json, nor the address in it, is anywhere: not on the screen, in reports, journal or log, nor in the logs of the host', async () => {
    await Promise.all(fresh.map((host) => putConfig(host, config())))
    const log = join(lab.folder, 'secrets.log')
    const runs = await Promise.all([
      preflight([...fresh, deployed], online, '-vv', '--diff', '--log-file', log),
      preflight([...fresh, deployed], online, '--output', 'json'),
    ])
    const told = [readFileSync(log, 'utf8')]
    for (const run of runs) {
      expect(run.code).toBe(2)
      // The file was read, else there is nothing to be seen here.
      for (const host of fresh)
        expect(check(run, host, 'api-server-reachable')).toMatchObject({
          severity: 'error',
          message: expect.stringMatching(/did not answer/),
        })
      told.push(run.stdout, run.stderr, ...filesIn(run.directory ?? ''))
    }
    for (const host of [...fresh, deployed]) told.push(await host.must('journalctl -q --no-pager -o export -b'))
    expect(told.join('').length).toBeGreaterThan(20_000)
    for (const secret of [...secrets, apiServer, 'labfak.thisisnotasecret', 'bm90IGEgY2VydGlmaWNhdGU=', 'lab.invalid'])
      for (const text of told) {
        expect(text.includes(secret), secret).toBe(false)
        expect(text.includes(JSON.stringify(secret).slice(1, -1)), secret).toBe(false)
      }
    await Promise.all(fresh.map(dropConfig))
  })

  test('it changes nothing on a host, takes one login and one command each, and so does a run that fails', async () => {
    const all = [...fresh, bare, deployed]
    await makeTarget(fresh[1] as LabHost, 'masked')
    await Promise.all(all.map((host) => host.put('/etc/ssh/sshd_config.d/05-verbose.conf', 'LogLevel VERBOSE\n')))
    await Promise.all(all.map((host) => host.must('systemctl reload ssh')))
    await Promise.all(all.map((host) => host.must(looksOf('/var/log/before'))))
    const run = await preflight(all, online)
    expect(run.code, run.stdout + run.stderr).toBe(2)
    for (const host of all) {
      await host.must(looksOf('/var/log/after'))
      expect((await host.sh('diff /var/log/before /var/log/after')).stdout, host.name).toBe('')
      expect(Number(await host.must('wc -l </var/log/after')), host.name).toBeGreaterThan(4000)
      expect(await host.must(sshdSaw), host.name).toBe('1 1')
      expect(execsOf(run, host.name)).toEqual(['inspect'])
      expect(run.host(host.name)).toMatchObject({ changes: 0 })
    }
  })
})

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))

/**
 * Every file with all that `stat` says of it, what systemd knows of every unit, the rule set, the mounts. Left out is what a
 * login writes, whoever logs in: logs, sessions, the message of the day; and where rpm's database notes its readers, as every
 * `rpm -q` has it do.
 */
const looksOf = (file: string): string => String.raw`{
  ! command -v rpm >/dev/null || rpm -q bash
  find / -xdev -mindepth 1 \( -path /dev -o -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /var/log -o -name 'rpmdb.sqlite-*' \) \
    -prune -o ${stat}
  find /run /tmp -xdev -mindepth 1 \( -path /run/log -o -path /run/systemd -o -path /run/user -o -path /run/utmp -o -name 'motd*' \) \
    -prune -o ${stat}
  find /run/systemd/system /run/systemd/transient /run/systemd/generator* ${stat}
  systemctl list-unit-files --no-legend --no-pager
  systemctl list-units --all --plain --no-legend --no-pager | grep -Ev '^(session-|user|run-user|.*\.device)' | tr -s ' ' | sort
  systemctl show -p Id,NeedDaemonReload,InvocationID,MainPID --no-pager 'ssh.service' 'a*.service' '*.target'
  nft list ruleset
  cut -d' ' -f1-4 /proc/mounts | grep -v /run/user
} 2>&1 >${file}`
const stat = String.raw`-printf '%p %y %m %U:%G %s %T@ %C@ %l\n' | sort`

/** Logins and commands since sshd read its settings anew. */
const sshdSaw = `journalctl -q -o cat -t sshd -t sshd-session | awk '
  /Accepted publickey/ { logins += 1 } /Starting session: command/ { commands += 1 } /SIGHUP/ { logins = commands = 0 }
  END { print logins + 0, commands + 0 }'`
