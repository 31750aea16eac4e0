// A host with all that an agent can have, and what of it a reset takes and what it leaves (domain.md 8).
import type { AgentBuild } from '../lab/agent/build.ts'
import { AGENT_UNIT, type HostSpec, LabHost } from '../lab/host.ts'
import { provision } from '../lab/provision.ts'
import { type DroverEnd, drover } from './drover.ts'
import { belongings } from './hooks.ts'
import { LEGACY, ROOT } from './host-root.ts'
import { agentArgs, releaseVar } from './releases.ts'

type Lab = Parameters<typeof drover>[0]

const etc = '/etc/systemd/system'
export const dropIn = `${etc}/${AGENT_UNIT}.d/50-drover-machines-target.conf`
const operatorsDropIn = `${etc}/${AGENT_UNIT}.d/60-operator.conf`
const lifecycleState = '/etc/unbounded/agent/kube1-nspawn-lifecycle.json'

/** What every host of these stories is booted with. */
export const extras = { worker: 'sleep', hooks: true, localdns: true, firstBoot: true } as const

const firstBoot = [
  '/etc/aks-flex-node/first-boot',
  `${etc}/aks-flex-node-bootstrap.service`,
  `${etc}/multi-user.target.wants/aks-flex-node-bootstrap.service`,
  'active aks-flex-node-bootstrap.service',
]

/** All that a reset takes from a host booted with `extras`; `root` is where the agent's files lie. */
export const everything = (root: string, wants: { firstBoot: boolean } = { firstBoot: true }): string[] => [
  '/etc/aks-flex-node',
  '/var/log/aks-flex-node',
  '/var/lib/machines/kube1',
  '/etc/systemd/nspawn/kube1.nspawn',
  `${etc}/aks-flex-node-agent.service`,
  `${etc}/aks-flex-node-agent-recovery.service`,
  `${etc}/systemd-nspawn@kube1.service.d`,
  `${etc}/unbounded-agent-regenerate-config@kube1.service`,
  `${etc}/unbounded-localdns-network.service`,
  `${etc}/machines.target.wants/systemd-nspawn@kube1.service`,
  `${etc}/multi-user.target.wants/aks-flex-node-agent.service`,
  `${etc}/multi-user.target.wants/unbounded-localdns-network.service`,
  '/run/bpffs/kube1',
  ...helpersBelow(root),
  'table ip unbounded_localdns',
  'interface localdns',
  'active aks-flex-node-agent.service',
  'active systemd-nspawn@kube1.service',
  dropIn,
  lifecycleState,
  ...(wants.firstBoot ? firstBoot : []),
]

/** What lies below a root and goes with a reset. */
export const helpersBelow = (root: string): string[] => [
  `${root}/bin/unbounded-agent-nspawn-lifecycle`,
  `${root}/lib/aks-flex-node/aks-flex-node-recovery.sh`,
  `${root}/libexec/unbounded-localdns-network`,
]

/** Of all that a reset takes, what is there. Only a boot unmounts a worker's bpffs for good: it is shown apart. */
export const taken = async (host: LabHost): Promise<string[]> => {
  const more = await host.must('for p; do [ ! -e "$p" ] || echo "$p"; done', [dropIn, lifecycleState])
  return [...(await belongings(host)), ...more.split('\n').filter(Boolean)].sort()
}

/** What neither a reset nor an uninstall may touch: an operator's, the system's, and what the agent changed for good. */
const keptByBoth = [
  '/opt/unbounded/artifacts',
  '/usr/local/bin/operators-own',
  '/opt/azcmagent',
  '/var/opt/azcmagent',
  '/etc/sysctl.d/99-kubernetes.conf',
  '/etc/fstab',
  '/etc/apt/apt.conf.d/99-unbounded-no-restart-systemd',
  '/etc/needrestart/conf.d/99-unbounded.conf',
  `${etc}/nftables-flush.service`,
  `${etc}/multi-user.target.wants/nftables-flush.service`,
  '/etc/unbounded/kube/nftables-clear.nft',
  `${etc}/static-routes.service`,
  `${etc}/systemd-nspawn@.service.requires/static-routes.service`,
  '/etc/systemd/nspawn/mine.nspawn',
  '/var/lib/machines/mine',
] as const

/** What only a reset keeps: the layout of the binaries, wherever it lies, and the data directory. */
const keptByReset = [
  ...[ROOT, `${ROOT}.staging`, LEGACY].flatMap((root) => [
    `${root}/bin/aks-flex-node`,
    ...['blue', 'green', 'current', 'last-good'].map((slot) => `${root}/lib/aks-flex-node/aks-flex-node-${slot}`),
  ]),
  `${ROOT}/.moving`,
  '/var/lib/aks-flex-node',
] as const

/** Writes all of it, and the files that a reset takes and the lab does not bring. `/usr` may be read-only. */
export const plant = async (host: LabHost): Promise<void> => {
  await host.must(
    `put() { mkdir -p "\${1%/*}" && printf '%s\\n' "$2" >"$1"; }
     mkdir -p /opt/unbounded && put /opt/unbounded/artifacts/image.tar bytes && chmod 0750 /opt/unbounded /opt/unbounded/artifacts
     put /usr/local/bin/operators-own tool 2>/dev/null || :
     put /opt/azcmagent/bin/himds program; put /var/opt/azcmagent/agentconfig.json '{"id": 1}'
     put /etc/sysctl.d/99-kubernetes.conf 'net.ipv4.ip_forward = 1'
     put /etc/fstab '# /swap none swap sw 0 0'
     put /etc/apt/apt.conf.d/99-unbounded-no-restart-systemd '// nothing'; put /etc/needrestart/conf.d/99-unbounded.conf '# nothing'
     put /etc/unbounded/kube/nftables-clear.nft '# nothing'; chmod 0600 /etc/unbounded/kube/nftables-clear.nft
     put /etc/systemd/nspawn/mine.nspawn '[Exec]'; put /var/lib/machines/mine/etc/hostname mine
     put /var/lib/aks-flex-node/data 'what the agent kept'
     put "$2" '{"version": 1, "machineName": "kube1"}'
     put "$1" "$(printf '[Unit]\\nWants=machines.target')"
     u=/etc/systemd/system
     put $u/nftables-flush.service "$(printf '[Service]\\nType=oneshot\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target')"
     put /etc/aks-flex-node/static-routes.sh "$(printf '#!/bin/sh\\nexit 0')"; chmod 0755 /etc/aks-flex-node/static-routes.sh
     put $u/static-routes.service "$(printf '[Service]\\nType=oneshot\\nRemainAfterExit=yes\\nExecStart=/etc/aks-flex-node/static-routes.sh\\n[Install]\\nRequiredBy=systemd-nspawn@.service')"
     systemctl daemon-reload; systemctl enable --quiet nftables-flush.service static-routes.service
     nft add table inet operators 2>/dev/null; ip link add keep0 type bridge 2>/dev/null || :`,
    [dropIn, lifecycleState],
  )
}

/** A drop-in of the operator's own beside drover's. */
export const plantDropIn = (host: LabHost): Promise<void> => host.put(operatorsDropIn, '[Service]\nNice=1\n')

/** Every file, directory and link of these, with its bytes. What is not there has no line. */
const bytesOf = async (host: LabHost, paths: readonly string[]): Promise<string[]> => {
  const lines = await host.must(
    `for p; do
       [ -e "$p" ] || [ -L "$p" ] || continue
       find "$p" -printf '%p %y %m %u:%g %l\\n' && find "$p" -type f -exec sha256sum {} +
     done
     stat -c '%n %F %a %U:%G' /opt/unbounded
     nft list tables | grep -x 'table inet operators'; cd /sys/class/net && ls -d keep0 2>/dev/null || :`,
    paths,
  )
  return lines.split('\n').sort()
}

const bothKeep = (host: LabHost): string[] =>
  // Its /usr takes no file of an operator's.
  keptByBoth.filter((path) => host.layout !== 'moved' || !host.spec.image.startsWith('acl') || !path.startsWith(LEGACY))

/** Seen before and after a reset; each path that there must be has a line. */
export const keptOnReset = (host: LabHost): Promise<string[]> =>
  Promise.all([
    bytesOf(host, [...bothKeep(host), operatorsDropIn, ...keptByReset]),
    host.must(
      "find /opt/unbounded -maxdepth 1 -printf '%p %y %m %u:%g %l\\n' | sort; ls -ld /usr/local/lib/aks-flex-node 2>/dev/null | cut -c-10",
    ),
  ]).then(([files, roots]) => [...files, ...roots.split('\n')])
export const keptOnUninstall = (host: LabHost): Promise<string[]> => bytesOf(host, bothKeep(host))

/** The paths of `bothKeep` and the data directory that are missing: a story first sees that there are none. */
export const missing = async (host: LabHost): Promise<string[]> =>
  (
    await host.must('for p; do [ -e "$p" ] || [ -L "$p" ] || echo "$p"; done', [
      ...bothKeep(host),
      '/var/lib/aks-flex-node/data',
    ])
  )
    .split('\n')
    .filter(Boolean)

/** The host as it was booted, after a reset or an uninstall: its layout is laid anew, perhaps of another build or in another place. */
export const again = async (
  host: LabHost,
  { firstBoot = true, ...other }: Partial<Pick<HostSpec, 'layout'>> & { agent?: AgentBuild; firstBoot?: boolean } = {},
): Promise<LabHost> => {
  const { firstBoot: _, ...spec } = host.spec
  const same = new LabHost(host.id, { ...spec, ...other, ...(firstBoot && { firstBoot }) }, host.address)
  await host.must(
    `systemctl stop "$1" 2>/dev/null; systemctl reset-failed 2>/dev/null
     # A worker would wait for their scripts, which a reset takes (O-14).
     systemctl disable --now --quiet static-routes.service 2>/dev/null; rm -f /etc/systemd/system/static-routes.service
     rm -rf /opt/unbounded/agent /opt/unbounded/agent.staging /etc/aks-flex-node /run/lab-die-at
     if [ -w /usr/local/bin ]; then
       rm -rf /usr/local/lib/aks-flex-node
       rm -f /usr/local/bin/aks-flex-node /usr/local/bin/unbounded-agent-nspawn-lifecycle /usr/local/libexec/unbounded-localdns-network
     fi`,
    [AGENT_UNIT],
  )
  await provision(same)
  await plant(same)
  return same
}

/** Non-interactive, as a program would run it. */
export const reset = (lab: Lab, host: LabHost, ...more: readonly string[]): Promise<DroverEnd> =>
  drover(lab, ['run', 'reset', '-l', host.name, '-y', ...more])
export const uninstall = (lab: Lab, host: LabHost, ...more: readonly string[]): Promise<DroverEnd> =>
  drover(lab, ['run', 'uninstall', '-l', host.name, '-y', '--yes-remove-everything', ...more])

/** What is at work on a LINKED host of the lab, and how its root gets into each state of a move that was cut, the agent up as it may be. */
const copied = `
  R=/opt/unbounded/agent S=/opt/unbounded/agent.staging L=/usr/local lib=lib/aks-flex-node
  mkdir -p $S/bin $S/lib $S/libexec; cp -a $L/$lib $S/lib/
  cp -a $L/bin/unbounded-agent-nspawn-lifecycle $S/bin/; cp -a $L/libexec/unbounded-localdns-network $S/libexec/
  for s in current last-good; do ln -sfn $R/$lib/aks-flex-node-blue $S/$lib/aks-flex-node-$s; done
  ln -sfn $R/$lib/aks-flex-node-current $S/bin/aks-flex-node; touch $S/.moving`
const swapped = `${copied}; rm $R; mv $S $R`

export const halfMoved = {
  STAGING: copied,
  'SWAP-GAP': `${copied}; rm $R`,
  'MOVING-1': swapped,
  'MOVING-2': `${swapped}; $R/$lib/aks-flex-node-current lab-write-unit host; systemctl daemon-reload; systemctl restart ${AGENT_UNIT}
    rm $L/bin/aks-flex-node $L/$lib/aks-flex-node-blue`,
  CONFLICT: `${swapped}; rm $R/.moving`,
} as const satisfies Readonly<Record<string, string>>

/** As in the story of install: no cluster answers, and a container is no host with 8 GiB. */
const installs = [
  ...['run', 'install', '-e', 'stable_s=3', '-e', 'within_s=8', '-e', 'force_ssh_install=true'],
  ...['--ignore-preflight-errors', 'api-server-reachable,disk-space,localdns-conntrack'],
  '-e',
  JSON.stringify({
    join_token: { secret: { env: 'JOIN_TOKEN' } },
    config: {
      azure: {
        targetCluster: {
          resourceId:
            '/subscriptions/44654aed-2753-4b88-9142-af7132933b6b/resourceGroups/lab/providers/Microsoft.ContainerService/managedClusters/lab',
        },
        bootstrapToken: { token: '${join_token}' },
      },
      node: { kubelet: { clusterFQDN: '127.0.0.1', caCertData: 'TEFC' } },
    },
  }),
]
const joins = { env: { JOIN_TOKEN: 'abcdef.0123456789abcdef' } }

export const install = async (lab: Lab, names: string, version: string): Promise<DroverEnd> =>
  drover(lab, [...installs, '-l', names, ...agentArgs(await releaseVar(lab, { version }))], joins)

/** Every file of a host that has a name of the agent's or of drover's, but those that are kept and the lock in /run. */
export const named = async (host: LabHost): Promise<string[]> => {
  const lines = await host.must(
    `find / /run /tmp /var /opt /etc -xdev \\( -path /proc -o -path /sys -o -path /run/systemd -o -path /var/lib/drover-lab \\) -prune -o \\
       \\( -name '*aks-flex-node*' -o -name '*unbounded*' -o -name '*drover*' \\) -print | sort -u`,
  )
  const expected = [...keptByBoth, '/opt/unbounded', '/etc/unbounded', '/run/aks-flex-node-agent-upgrade.lock']
  return lines.split('\n').filter((path) => path !== '' && !expected.includes(path) && !path.includes('drover-lab'))
}
