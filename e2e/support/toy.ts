// A service that runs one of two slots through a link, as the agent does, and what guards a switch of it.
import type { Change, GuardScope } from '../../src/changes/change.ts'
import { rollbackSource } from '../../src/changes/rollback-source.ts'
import type { Fact } from '../../src/facts/fact.ts'
import type { Output } from '../lab/docker.ts'
import type { LabHost } from '../lab/host.ts'
import { until } from '../lab/wait.ts'

export const toy = 'toy.service'
export const slots = { blue: '/srv/toy/blue', green: '/srv/toy/green' } as const
export const current = '/srv/toy/current'
export const lock = '/run/toy.lock'
export const root = '/srv/root'
export const unitFile = `/etc/systemd/system/${toy}`
export const conf = '/srv/toy/conf'

export const scope: GuardScope = { lock, root }

/** Two slots that are programs, the link to the blue one, and a unit that notes at each start what it starts. */
export const makeToy = (host: LabHost): Promise<string> =>
  host.must(`mkdir -p /srv/toy && cd /srv/toy && cp /usr/bin/sleep blue && cp /usr/bin/sleep green && echo green >>green
ln -sfn ${slots.blue} current && echo one >conf && chmod 0640 conf && chown 1:1 conf && rm -rf ${root} fresh started
cat >/etc/systemd/system/toy.service <<'UNIT'
[Unit]
StartLimitIntervalSec=60
StartLimitBurst=50
[Service]
ExecStartPre=/bin/sh -c 'readlink ${current} >>/srv/toy/started'
ExecStart=${current} infinity
[Install]
WantedBy=multi-user.target
UNIT
mkdir -p /etc/systemd/system/drover-rollback.service.d
printf '[Service]\\nRestartSec=1s\\nEnvironment=SETTLE_S=1\\n' >/etc/systemd/system/drover-rollback.service.d/fast.conf
systemctl daemon-reload && systemctl enable --quiet toy.service && systemctl restart toy.service`)

export const facts: readonly Fact[] = [
  { kind: 'unit', name: toy },
  ...[slots.blue, slots.green, current, conf, '/srv/toy/fresh', '/srv/other/file', root, unitFile].map(
    (path): Fact => ({ kind: 'path', path, sha256: true }),
  ),
]

export const arm = (withinMs: number, more: Partial<Extract<Change, { kind: 'arm' }>> = {}): Change => ({
  kind: 'arm',
  what: 'switch to green',
  candidate: 'digest-of-green',
  withinMs,
  scope,
  ...more,
})
export const hold: Change = { kind: 'hold', lock, forS: 300 }
export const toGreen: Change = { kind: 'link', path: current, target: slots.green }
export const restart: Change = { kind: 'systemctl', verb: 'restart', unit: toy }
export const upFrom = (exe: string): Change => ({
  kind: 'await',
  condition: { unit: toy, is: 'running-from', exe },
  withinMs: 10_000,
  stableMs: 0,
})

export const runsFrom = (host: LabHost): Promise<string> =>
  host.must('readlink "/proc/$(systemctl show -p MainPID --value toy.service)/exe"')

/** Everything of an armed rollback that is on the host, in memory and on disk. Empty: nothing. */
export const traces = (host: LabHost): Promise<string> =>
  host.must(`ls -A /var/lib/drover 2>/dev/null || :
ls -A /etc/systemd/system/ /etc/systemd/system/multi-user.target.wants | grep -E 'rollback(\\.[^.]*)?\\.service$|drover\\.' || :
systemctl list-units --all --plain --no-legend 'drover-*' | cut -d ' ' -f 1
ls -A /srv/toy | grep drover || :`)

export const confirm = (host: LabHost, run: string): Promise<Output> =>
  host.sh(rollbackSource('confirm'), [run, 'e2e@lab'])
export const fireNow = (host: LabHost, run: string, withinS = 60): Promise<Output> =>
  host.sh(rollbackSource('fire-now'), [run, String(withinS)])

/** Waits until the host has rolled back by itself, and gives the line that it left, which goes with it. */
export const untilRolledBack = async (host: LabHost, timeoutMs = 60_000): Promise<string[]> => {
  await until(`the rollback of ${host.name}`, timeoutMs, async () =>
    (await traces(host)) === 'rolled-back' ? true : undefined,
  )
  return (await host.must('cd /var/lib/drover && cat rolled-back && rm rolled-back && rmdir /var/lib/drover')).split(
    ' ',
  )
}
