import { expect, test } from 'vitest'
import { LEGACY, layoutEntry, ROOT } from '../../src/tasks/agent/paths.ts'
import { agentStaged } from '../../src/tasks/agent-staged.ts'
import { laidOut, linksOn } from './deployed.ts'
import { planOn, type Result, resultOf, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import { installed, layout, up } from './install/hosts.ts'
import { digest, release } from './switch/release.ts'

const choice = { use_operator_link: false, force_ssh_install: false }
const wanted = { release: release('v0.4.0', 'new'), ...choice }

const planned = (literal: HostLiteral, more: Partial<typeof wanted> = {}) => {
  const params = { ...wanted, ...more }
  return planOn(agentStaged, params, stateFor(agentStaged, params, literal))
}
const result = (literal: HostLiteral, more: Partial<typeof wanted> = {}): Result => resultOf(planned(literal, more))

const legacy = (name: 'blue' | 'green' | 'current' | 'last-good') => layoutEntry(LEGACY, name)
const root = (name: 'blue' | 'current') => layoutEntry(ROOT, name)
const elf = { file: 'old', mode: 0o755 } as const
const readOnly = { [`${LEGACY}/bin`]: { readOnly: true } }

/** The directory that the binary is put into. */
const places: readonly [what: string, literal: HostLiteral, more: Partial<typeof wanted>, place: string][] = [
  ['a bare host', {}, {}, legacy('blue')],
  ['a read-only /usr/local', { mounts: readOnly }, {}, root('blue')],
  ['a file where /usr/local/bin belongs', { paths: { [`${LEGACY}/bin`]: { file: '' } } }, {}, root('blue')],
  ['a real root', { paths: { [ROOT]: { dir: [] } } }, {}, root('blue')],
  ['a link to /usr/local', { paths: { [ROOT]: { link: LEGACY } } }, {}, legacy('blue')],
  [
    '/opt as a link',
    { paths: { '/opt': { link: '/srv/opt' }, '/srv/opt': { dir: [] } }, mounts: readOnly },
    {},
    root('blue'),
  ],
  ['a kept layout that runs blue', { paths: { ...layout(LEGACY), [legacy('blue')]: elf } }, {}, legacy('green')],
  [
    'a kept layout and a read-only /usr/local/bin',
    { paths: { ...layout(ROOT), [root('blue')]: elf }, mounts: readOnly },
    {},
    layoutEntry(ROOT, 'green'),
  ],
  [
    'an image-managed host with a kept layout',
    { os: { family: 'acl' }, paths: { ...layout(ROOT), [root('blue')]: elf } },
    {},
    layoutEntry(ROOT, 'green'),
  ],
  [
    'an image-managed host, forced',
    { os: { family: 'acl' }, mounts: readOnly },
    { force_ssh_install: true },
    root('blue'),
  ],
  [
    'an operator’s link, wanted',
    { paths: { [ROOT]: { link: '/srv/a' }, '/srv/a': { dir: [] } } },
    { use_operator_link: true },
    root('blue'),
  ],
]

test.each(places)('%s', (_, literal, more, place) => {
  expect(result(literal, more)).toContainEqual(expect.stringContaining(`upload ${place} `))
})

const refused: readonly [what: string, code: string, literal: HostLiteral, more?: Partial<typeof wanted>][] = [
  ['another release is installed', 'already-installed', laidOut('LEGACY')],
  ['an agent from before the slots is installed', 'already-installed', laidOut('LEGACY-PLAIN')],
  [
    'a unit without any binary',
    'layout-unknown',
    { paths: { '/etc/systemd/system/aks-flex-node-agent.service': { file: '' } } },
  ],
  ['both roots hold one', 'move-unfinished', { paths: { ...layout(LEGACY), ...layout(ROOT) } }],
  ['a move is under way', 'move-unfinished', { paths: { ...layout(ROOT), [`${ROOT}/.moving`]: { file: '' } } }],
  [
    'a copy is being built',
    'move-unfinished',
    { paths: { ...layout(LEGACY), [ROOT]: { link: LEGACY }, [`${ROOT}.staging`]: { dir: true } } },
  ],
  ['the root is a file', 'layout-unknown', { paths: { [ROOT]: { file: '' } } }],
  ['an operator’s link', 'operator-link', { paths: { [ROOT]: { link: '/srv/a' }, '/srv/a': { dir: [] } } }],
  [
    'an operator’s link that leads nowhere',
    'operator-link',
    { paths: { [ROOT]: { link: '/srv/a' }, '/srv': { dir: [] } } },
    { use_operator_link: true },
  ],
  [
    'an operator’s link to /usr/local by another name',
    'operator-link',
    { paths: { [ROOT]: { link: '/usr/./local' } } },
    { use_operator_link: true },
  ],
  ['an image-managed host (M2)', 'image-managed', { os: { family: 'acl' }, mounts: readOnly }],
  ['an architecture without a binary', 'precondition-unmet', { os: { architecture: 'aarch64' } }],
  ['an architecture that no release is for', 'precondition-unmet', { os: { architecture: 'riscv64' } }],
  ['no root rights', 'inspect-failed', { os: { uid: 1000 } }],
  ['no systemd', 'inspect-failed', { noSystemd: 'timed out' }],
  [
    'a link elsewhere at the binary’s path',
    'path-in-the-way',
    { paths: { [`${LEGACY}/bin/aks-flex-node`]: { link: '/opt/mine' } } },
  ],
  [
    'a directory at the binary’s path',
    'path-in-the-way',
    { paths: { [`${LEGACY}/bin/aks-flex-node`]: { dir: true } } },
  ],
  ['a slot that is a link', 'layout-unknown', { paths: { [legacy('blue')]: { link: '/srv/x' } } }],
  ['a slot of another user', 'layout-unknown', { paths: { [legacy('green')]: { file: 'x', uid: 1000 } } }],
  ['a current that is a file', 'layout-unknown', { paths: { [legacy('current')]: { file: 'x' } } }],
  [
    'a current that leads elsewhere',
    'layout-unknown',
    { paths: { [legacy('current')]: { link: '/srv/x' }, '/srv/x': { file: 'x' } } },
  ],
  [
    'a library directory of another user',
    'layout-unknown',
    { paths: { [`${LEGACY}/lib/aks-flex-node`]: { dir: [], uid: 1000 } } },
  ],
  ...[LEGACY, `${LEGACY}/bin`, `${LEGACY}/lib`, `${LEGACY}/lib/aks-flex-node`].flatMap((path) =>
    (
      [
        ['of another user', { uid: 1000 }],
        ['that a group may write to', { mode: 0o775 }],
        ['that all may write to, sticky', { mode: 0o1777 }],
      ] as const
    ).map(([what, attributes]): (typeof refused)[number] => [
      `${path}, a directory ${what}`,
      'layout-unknown',
      { paths: { [path]: { dir: true, ...attributes } } },
    ]),
  ),
  ['a root of another user', 'layout-unknown', { paths: { [ROOT]: { dir: [], uid: 1000 } } }],
  ['a root that a group may write to', 'layout-unknown', { paths: { [ROOT]: { dir: [], mode: 0o770 } } }],
  [
    'an operator’s link to a directory of another user',
    'layout-unknown',
    { paths: { [ROOT]: { link: '/srv/a' }, '/srv/a': { dir: [], uid: 1000 } } },
    { use_operator_link: true },
  ],
  [
    'a binary of another user',
    'path-in-the-way',
    { paths: { [`${LEGACY}/bin/aks-flex-node`]: { file: 'mine', mode: 0o755, uid: 1000 } } },
  ],
  [
    'a link in the place of its backup',
    'path-in-the-way',
    {
      paths: {
        [`${LEGACY}/bin/aks-flex-node`]: { file: 'mine', mode: 0o755 },
        [`${LEGACY}/bin/aks-flex-node.drover-backup`]: { link: '/etc/passwd' },
      },
    },
  ],
  [
    'a release of which nobody can say whether it knows the root it would have to go to',
    'downgrade-refused',
    { mounts: readOnly },
    { release: release('dev', 'new') },
  ],
  [
    'the same under a link to /usr/local',
    'downgrade-refused',
    { paths: { ...layout(LEGACY), [legacy('blue')]: elf, [ROOT]: { link: LEGACY } } },
    { release: release('dev', 'new') },
  ],
  [
    'a first boot under way',
    'precondition-unmet',
    { units: { 'aks-flex-node-bootstrap.service': { ActiveState: 'activating' } } },
  ],
  ['a file where a directory belongs', 'path-in-the-way', { paths: { [`${LEGACY}/lib`]: { file: '' } } }],
  [
    'a place that is mounted noexec',
    'precondition-unmet',
    { mounts: { [`${LEGACY}/lib/aks-flex-node`]: { noexec: true } } },
  ],
  [
    'a place that is read-only',
    'precondition-unmet',
    { mounts: { [`${LEGACY}/lib/aks-flex-node`]: { readOnly: true } } },
  ],
  ['no room', 'no-space', { mounts: { [`${LEGACY}/lib/aks-flex-node`]: { freeBytes: 2 } } }],
  [
    'the activation lock is held',
    'activation-locked',
    { probes: { 'activation-lock': 'lock=held\nholder=77 install.sh -\n' } },
  ],
  [
    'a release older than the only root there is',
    'downgrade-refused',
    { mounts: readOnly },
    { release: release('v0.2.0', 'new') },
  ],
]

test.each(refused)('refused: %s', (_, code, literal, more) => {
  expect(result(literal, more)).toEqual({ blocked: code })
})

test('the link of an operator is named with its target', () => {
  const plan = planned({ paths: { [ROOT]: { link: '/srv/a' } } })
  expect(plan).toMatchObject({
    error: { message: expect.stringContaining('/srv/a'), remedy: expect.stringContaining('--use-operator-link') },
  })
})

test('M2: an image-managed host is to be provisioned by drover ignition, or forced', () => {
  const plan = planned({ os: { family: 'acl' }, mounts: readOnly })
  expect(plan).toMatchObject({ error: { remedy: expect.stringMatching(/drover ignition.*--force-ssh-install/) } })
})

test.each([
  ['as install leaves it', up()],
  ['that was never started', installed()],
  ['switched to green by an upgrade', linksOn('LEGACY', 'green', 'blue')],
])('an installed agent of the same release is as wanted: %s', (_, literal) => {
  expect(result(literal)).toEqual([])
})

test('what a kept layout holds of the release is not sent again, and is run before anything names it', () => {
  const paths = { ...layout(LEGACY), [legacy('blue')]: elf, [legacy('green')]: { file: 'new', mode: 0o755 } }
  expect(result({ paths })).toEqual([
    `wait until ${legacy('green')} version says "Version: v0.4.0"`,
    `link ${legacy('last-good')} -> ${legacy('green')}`,
    `link ${legacy('current')} -> ${legacy('green')}`,
  ])
})

test('what the host has of an older release is offered as the base of a difference', () => {
  const plan = planned({ paths: { ...layout(LEGACY), [legacy('blue')]: elf } })
  expect(plan).toMatchObject({ changes: [{ kind: 'upload', base: { path: legacy('blue') } }, {}, {}, {}] })
})

test('what is made under the host’s own directory is 0755, and that itself stays as it is', () => {
  const literal = { mounts: readOnly, paths: { '/opt/unbounded': { dir: true, mode: 0o750 } } } as const
  const made = result(literal) as readonly string[]
  expect(made.filter((line) => line.startsWith('create directory'))).toEqual(
    ['', '/bin', '/lib', '/lib/aks-flex-node', '/libexec'].map(
      (below) => `create directory ${ROOT}${below} (0755 root:root)`,
    ),
  )
  expect(made.filter((line) => / \/opt\/unbounded[ (]/.test(line))).toEqual([])
})

test.each([
  ['declared to know it', { mounts: readOnly }, release('dev', 'new', { hostRootSince: 'dev' }), root('blue')],
  ['of which the host itself knows', { mounts: readOnly, paths: seen('new') }, release('dev', 'new'), root('blue')],
  ['where no root is asked for', {}, release('dev', 'new'), legacy('blue')],
  [
    'that is older, under a link that leads to where it looks',
    { paths: { ...layout(LEGACY), [legacy('blue')]: elf, [ROOT]: { link: LEGACY } } },
    release('v0.2.0', 'new'),
    legacy('green'),
  ],
])('a build is taken %s', (_, literal, wantedRelease, place) => {
  expect(result(literal as HostLiteral, { release: wantedRelease })).toContainEqual(
    expect.stringContaining(`upload ${place} `),
  )
})

function seen(text: string): Record<string, { readonly file: string }> {
  return { '/etc/aks-flex-node/host-root-agents': { file: `${digest(text)}\n` } }
}

const own = `${LEGACY}/bin/aks-flex-node`
const backup = `${own}.drover-backup`

test.each<[what: string, paths: HostLiteral['paths'], kept: unknown[], told: unknown[]]>([
  [
    'another is kept as it was',
    { [own]: { file: 'mine', mode: 0o750 } },
    [expect.stringMatching(`^copy ${own} to ${backup} \\(0750 root:root`)],
    ['binary-replaced'],
  ],
  [
    'one that is kept already is told of',
    { [own]: { file: 'mine', mode: 0o755 }, [backup]: { file: 'mine' } },
    [],
    ['binary-replaced'],
  ],
  ['that of the release is not', { [own]: { file: 'new', mode: 0o755 } }, [], []],
])('a plain binary gives way to the link: %s', (_, paths, kept, told) => {
  const plan = planned({ paths })
  const lines = resultOf(plan) as readonly string[]
  expect(lines.filter((line) => line.startsWith('copy '))).toEqual(kept)
  expect(lines.at(-1)).toBe(`link ${own} -> ${legacy('current')}`)
  expect((plan.status === 'planned' ? (plan.findings ?? []) : []).map(({ check }) => check)).toEqual(told)
})

test.each([
  ['another user', { uid: 1000 }],
  ['a group', { mode: 0o775 }],
])('the host’s own directory that belongs to %s is told of', (_, attributes) => {
  const literal = { mounts: readOnly, paths: { '/opt/unbounded': { dir: true, ...attributes } } } as const
  expect(planned(literal)).toMatchObject({
    status: 'planned',
    findings: [{ check: 'install-directory-open', target: '/opt/unbounded', severity: 'warning' }],
  })
})
