// What of a host with all that an agent can have a reset takes, and what it leaves (domain.md 8).
import { expect } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { traces } from './agent-layout.ts'
import { belongings } from './hooks.ts'
import { LEGACY, ROOT } from './host-root.ts'

const etc = '/etc/systemd/system'
export const dropIn = `${etc}/${AGENT_UNIT}.d/50-drover-machines-target.conf`
export const operatorsDropIn = `${etc}/${AGENT_UNIT}.d/60-operator.conf`
export const lifecycleState = '/etc/unbounded/agent/kube1-nspawn-lifecycle.json'

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

/** Every file of a host that has a name of the agent's or of drover's, but those that are kept and the lock in /run. */
export const named = async (host: LabHost): Promise<string[]> => {
  const lines = await host.must(
    `find / /run /tmp /var /opt /etc -xdev \\( -path /proc -o -path /sys -o -path /run/systemd -o -path /var/lib/drover-lab \\) -prune -o \\
       \\( -name '*aks-flex-node*' -o -name '*unbounded*' -o -name '*drover*' \\) -print | sort -u`,
  )
  const expected = [...keptByBoth, '/opt/unbounded', '/etc/unbounded', '/run/aks-flex-node-agent-upgrade.lock']
  return lines.split('\n').filter((path) => path !== '' && !expected.includes(path) && !path.includes('drover-lab'))
}

/** Nothing of what a reset takes, and nothing of drover's. */
export const isReset = async (host: LabHost, where = host.name): Promise<void> => {
  expect(await taken(host), where).toEqual([])
  expect(await traces(host), where).toBe('')
  expect(await host.must('systemctl list-units --failed --no-legend --plain'), where).not.toMatch(/aks-flex|unbounded/)
}
