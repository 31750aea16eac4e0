import { expect, test } from 'vitest'
import type { Change } from '../../../src/changes/change.ts'
import { LEGACY, layoutEntry, ROOT } from '../../../src/tasks/agent/paths.ts'
import { withToken } from '../config/valid.ts'
import { aHost } from '../deployed.ts'
import type { HostLiteral } from '../host-state.ts'
import { digest } from '../switch/release.ts'
import { content } from './hosts.ts'
import { carryOut, hostFor, installPlay, summaries, treeOf, unitOf, withAnswers } from './simulated.ts'

const agent = {
  version: 'v0.4.0',
  hostRootSince: 'v0.3.0',
  amd64: { file: '/releases/aks-flex-node', sha256: digest(content) },
}
const vars = { agent, config: withToken }

const base: HostLiteral = {
  paths: {
    '/etc/sysctl.d': { dir: true },
    '/etc/systemd/system': { dir: true },
    '/sys/fs/cgroup': { dir: true },
    '/usr/local/bin': { dir: true },
    '/usr/local/lib': { dir: true },
    '/opt': { dir: true },
  },
  units: { 'machines.target': { UnitFileState: 'disabled' } },
  programs: {
    systemctl: '/usr/bin/systemctl',
    machinectl: '/usr/bin/machinectl',
    'systemd-nspawn': '/usr/bin/systemd-nspawn',
    curl: '/usr/bin/curl',
    nft: '/usr/sbin/nft',
    mountpoint: '/usr/bin/mountpoint',
  },
  probes: {
    swap: 'swap=none\n',
    conntrack: 'localdns=off\n',
    'api-server': 'config=missing\n',
    'selinux-denials': 'source=journal\ndenials=0\nreset_failed=0\n',
  },
}
const and = (more: HostLiteral): HostLiteral => ({
  ...base,
  ...more,
  paths: { ...base.paths, ...more.paths },
  programs: { ...base.programs, ...more.programs },
  mounts: { ...base.mounts, ...more.mounts },
})

const readOnlyUsr = Object.fromEntries(
  [`${LEGACY}/bin`, `${LEGACY}/lib/aks-flex-node`].map((path) => [path, { readOnly: true, mountPoint: '/usr' }]),
)
const kept = (root: typeof ROOT | typeof LEGACY, text: string) => ({
  [layoutEntry(root, 'green')]: { file: text, mode: 0o755 },
  [layoutEntry(root, 'current')]: { link: layoutEntry(root, 'green') },
  [layoutEntry(root, 'last-good')]: { link: layoutEntry(root, 'green') },
  [`${root}/bin/aks-flex-node`]: { link: layoutEntry(root, 'current') },
})

const hosts: Readonly<Record<string, readonly [HostLiteral, typeof ROOT | typeof LEGACY, object?]>> = {
  'RHEL without the packages': [
    and({ packageManager: 'dnf', programs: { 'systemd-nspawn': null, machinectl: null, nft: null } }),
    LEGACY,
  ],
  'Ubuntu with the packages': [
    and({ os: { family: 'ubuntu', id: 'ubuntu', versionId: '24.04', systemdVersion: 255 } }),
    LEGACY,
  ],
  'a read-only /usr/local': [and({ mounts: readOnlyUsr }), ROOT],
  'a real directory at the root': [and({ paths: { [ROOT]: { dir: [] } } }), ROOT],
  'artifacts beside the root': [
    and({
      mounts: readOnlyUsr,
      paths: { '/opt/unbounded': { dir: true, mode: 0o750 }, '/opt/unbounded/artifacts': { dir: true } },
    }),
    ROOT,
  ],
  'Azure Container Linux, forced': [
    and({ os: { family: 'acl', id: 'azurelinux' }, packageManager: null, mounts: readOnlyUsr }),
    ROOT,
    { force_ssh_install: true },
  ],
  'a layout under /usr/local that a reset kept': [and({ paths: kept(LEGACY, 'old') }), LEGACY],
  'a layout under the root that a reset kept': [and({ paths: kept(ROOT, 'old') }), ROOT],
  'the same release kept by a reset': [and({ paths: kept(ROOT, content) }), ROOT],
  'a link to /usr/local at the root': [and({ paths: { ...kept(LEGACY, 'old'), [ROOT]: { link: LEGACY } } }), LEGACY],
  'a seed of install.sh': [and({ paths: { [`${LEGACY}/bin/aks-flex-node`]: { file: 'seed', mode: 0o755 } } }), LEGACY],
  'the link of an operator': [
    and({ paths: { [ROOT]: { link: '/srv/agent' }, '/srv/agent': { dir: [] } } }),
    ROOT,
    { use_operator_link: true },
  ],
  'an earlier configuration': [
    and({ paths: { '/etc/aks-flex-node/config.json': { file: '{}', mode: 0o644 } } }),
    LEGACY,
  ],
  'no join': [and({}), LEGACY, { join: false }],
}
const cases = Object.entries(hosts).map(([name, [literal, root, more = {}]]) => ({ name, literal, root, more }))

const playOf = (more: object) => installPlay({ ...vars, ...more })

test.each(cases)('an install ends with an agent that runs from its slot: $name', async ({ literal, root, more }) => {
  const play = await playOf(more)
  const { state, error, changes } = carryOut(play, hostFor(play, literal))
  expect(error).toBeUndefined()
  expect(changes.length).toBeGreaterThan(5)
  const place =
    root === ROOT && literal.paths?.[ROOT] !== undefined && 'link' in (literal.paths[ROOT] as object)
      ? '/srv/agent'
      : root
  expect(unitOf(state)).toMatchObject({ active: 'active', load: 'loaded', file: 'enabled' })
  const exe = unitOf(state).exe
  expect(exe.startsWith(`${place}/lib/aks-flex-node/aks-flex-node-`)).toBe(true)
  expect(treeOf(state)[exe]).toBe(`755 ${digest(content)}`)
  expect(treeOf(state)[`${place}/bin/unbounded-agent-nspawn-lifecycle`]).toBe(`755 ${digest(content)}`)
  expect(treeOf(state)[`${place}/bin/aks-flex-node`]).toBe(`-> ${layoutEntry(root, 'current')}`)
  expect(treeOf(state)['/etc/aks-flex-node/config.json']).toMatch(/^600 /)
  // Once more, and nothing is left to do.
  expect(carryOut(play, state).changes).toEqual([])
})

test.each(cases)('cut after any change, an install is finished by the next one: $name', async ({ literal, more }) => {
  const play = await playOf(more)
  const start = hostFor(play, literal)
  const whole = carryOut(play, start)
  for (let cut = 0; cut <= whole.changes.length; cut += 1) {
    const half = carryOut(play, start, cut)
    expect(half.error).toBeUndefined()
    expect(half.changes).toHaveLength(cut)
    const again = carryOut(play, withAnswers(half.state))
    expect(again.error, `cut after ${cut}: ${summaries(half.changes).at(-1)}`).toBeUndefined()
    expect(treeOf(again.state)).toEqual(treeOf(whole.state))
    expect(unitOf(again.state)).toEqual(unitOf(whole.state))
  }
})

/** Everything that an install may write: nothing else of a host is its business. */
const declared = [
  /^\/etc\/aks-flex-node(\/config\.json(\.drover-backup)?)?$/,
  /^\/var\/(lib|log)\/aks-flex-node(\/aks-flex-node\.log)?$/,
  /^\/usr\/local\/(bin|lib)(\/aks-flex-node|\/unbounded-agent-nspawn-lifecycle)?$/,
  /^(\/usr\/local|\/opt\/unbounded\/agent)\/(bin|lib|libexec)(\/.*)?$/,
  /^\/opt(\/unbounded(\/agent)?)?$/,
  /^\/etc\/systemd\/system\/aks-flex-node-agent(-recovery)?\.service$/,
]
const pathOf = (change: Change): string[] => ('path' in change ? [change.path] : [])

test.each(cases)(
  'nothing but what is declared is touched, and what is the host’s stays: $name',
  async ({ literal, more }) => {
    const play = await playOf(more)
    const { changes } = carryOut(play, hostFor(play, literal))
    for (const path of changes.flatMap(pathOf))
      expect(
        declared.some((form) => form.test(path)),
        path,
      ).toBe(true)
    expect(changes.filter(({ kind }) => kind === 'remove')).toEqual([])
    expect(changes.filter((change) => change.kind === 'attributes' && change.path.startsWith('/opt'))).toEqual([])
    for (const change of changes)
      if (change.kind === 'directory') expect(change).toMatchObject({ mode: 0o755, owner: 'root:root' })
  },
)

test.each(cases)(
  'no unit is written before the binary was run, and none names what is not there: $name',
  async ({ literal, more }) => {
    const play = await playOf(more)
    const { changes } = carryOut(play, hostFor(play, literal))
    const lines = summaries(changes)
    const at = (part: string): number => lines.findIndex((line) => line.includes(part))
    const order = [
      ...(at('upload ') >= 0 ? ['upload ', 'version says', 'current ->'] : []),
      'write /etc/systemd/system/aks-flex-node-agent-recovery.service',
      'copy ',
      'write /etc/systemd/system/aks-flex-node-agent.service',
      'daemon-reload',
    ].map((part) => (part === 'copy ' ? lines.findIndex((line) => /^copy .*lifecycle/.test(line)) : at(part)))
    expect(order).not.toContain(-1)
    expect(order).toEqual([...order].sort((a, b) => a - b))
  },
)

test('a plain install on Ubuntu, change by change', async () => {
  const play = await playOf({})
  const { changes, segments } = carryOut(play, hostFor(play, hosts['Ubuntu with the packages']?.[0] ?? {}))
  const lib = '/usr/local/lib/aks-flex-node'
  expect(summaries(changes).map((line) => line.replace(/ \(.*/, ''))).toEqual([
    'create directory /etc/aks-flex-node',
    'create directory /var/lib/aks-flex-node',
    'create directory /var/log/aks-flex-node',
    'write /var/log/aks-flex-node/aks-flex-node.log',
    'write /etc/aks-flex-node/config.json',
    `create directory ${lib}`,
    `upload ${lib}/aks-flex-node-blue`,
    `wait until ${lib}/aks-flex-node-blue version says "Version: v0.4.0"`,
    `link ${lib}/aks-flex-node-last-good -> ${lib}/aks-flex-node-blue`,
    `link ${lib}/aks-flex-node-current -> ${lib}/aks-flex-node-blue`,
    `link /usr/local/bin/aks-flex-node -> ${lib}/aks-flex-node-current`,
    `write ${lib}/aks-flex-node-recovery.sh`,
    'write /etc/systemd/system/aks-flex-node-agent-recovery.service',
    `copy ${lib}/aks-flex-node-current to /usr/local/bin/unbounded-agent-nspawn-lifecycle`,
    'write /etc/systemd/system/aks-flex-node-agent.service',
    'systemctl daemon-reload',
    'run /usr/local/bin/aks-flex-node start --config /etc/aks-flex-node/config.json',
    'wait until test -s /etc/aks-flex-node/daemon-state.json succeeds',
    'wait until aks-flex-node-agent.service is active for 45 s',
    'wait until test "!" -e /opt/unbounded/agent/.moving succeeds',
  ])
  expect(segments).toBe(2)
})

test.each([
  ['the container variant', { variant: 'container' as const }, {}, /^precondition-unmet: .*container variant/],
  ['a host that is offline and lacks packages', { offline: true }, { programs: { nft: null } }, /^preflight-failed/],
])('%s is refused before anything is changed', async (_, host, more, error) => {
  const play = await installPlay(vars, aHost(host))
  const ending = carryOut(play, hostFor(play, and(more)))
  expect(ending.error).toMatch(error)
  expect(ending.changes.filter(({ kind }) => kind === 'upload' || kind === 'package')).toEqual([])
})
