import { describe, expect, test } from 'vitest'
import type { Value } from '../../src/playbook/value.ts'
import type { Release } from '../../src/release/release.ts'
import { LEGACY, ROOT } from '../../src/tasks/agent/paths.ts'
import { agentUpgraded } from '../../src/tasks/agent-upgraded.ts'
import { execStart, laidOut, linksOn, runningHost, type SettledState } from './deployed.ts'
import { faultsOf, resultOf } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import { digest, fakeReleases, release } from './switch/release.ts'
import { upgradeOn, upgradeParams, wanted } from './switch/upgrading.ts'

const agent = 'aks-flex-node-agent.service'
const lock = '/run/aks-flex-node-agent-upgrade.lock'
const unitFile = '/etc/systemd/system/aks-flex-node-agent.service'
const seed = `${LEGACY}/bin/aks-flex-node`
const inWorker = '/var/lib/machines/kube1/usr/local/bin/aks-flex-node'
const entry = (root: string, name: string): string => `${root}/lib/aks-flex-node/aks-flex-node-${name}`
const short = digest('new').slice(0, 12)

const hold = `hold the lock ${lock}`
const arm = 'arm the rollback of the upgrade to v0.4.0: it fires after 300 s, and at a boot before that'
const brought = (root: string): string[] => [
  `upload ${entry(root, 'green')} (0755 root:root, 3 bytes, sha256 ${short})`,
  `wait until ${entry(root, 'green')} version says "Version: v0.4.0"`,
]
const copied = (root: string): string => `copy ${entry(root, 'green')} to ${inWorker} (0755 root:root, 3 bytes)`
const untouched = 'wait until systemd-nspawn@kube1.service is seen to be untouched'
const proved = (root: string): string[] => [`wait until ${agent} runs ${entry(root, 'green')} for 45 s`, untouched]
const whole = (root: string): string[] => [
  hold,
  ...brought(root),
  arm,
  `link ${entry(root, 'current')} -> ${entry(root, 'green')}`,
  copied(root),
  `systemctl restart ${agent}`,
  ...proved(root),
]

describe('the plan of an upgrade', () => {
  test.each<[state: SettledState, root: string]>([
    ['LEGACY', LEGACY],
    ['LINKED', LEGACY],
    ['MOVED', ROOT],
  ])('on a host that is %s: lock, candidate, its version, rollback armed, and then the switch', (state, root) => {
    expect(resultOf(upgradeOn(laidOut(state)))).toEqual(whole(root))
  })

  test('before the slots: the old binary is kept in one of them first, and the unit is written anew', () => {
    expect(resultOf(upgradeOn(laidOut('LEGACY-PLAIN')))).toEqual([
      hold,
      expect.stringMatching(/^create directory \/usr\/local\/lib\/aks-flex-node /),
      `copy ${seed} to ${entry(LEGACY, 'blue')} (0755 root:root, 3 bytes)`,
      `link ${entry(LEGACY, 'last-good')} -> ${entry(LEGACY, 'blue')}`,
      `link ${entry(LEGACY, 'current')} -> ${entry(LEGACY, 'blue')}`,
      ...brought(LEGACY),
      arm,
      expect.stringMatching(/^write .*aks-flex-node-recovery.sh \(0750 /),
      expect.stringMatching(/^write .*aks-flex-node-agent-recovery.service /),
      expect.stringMatching(/^write .*\/aks-flex-node-agent.service /),
      `link ${entry(LEGACY, 'current')} -> ${entry(LEGACY, 'green')}`,
      `remove ${seed}`,
      `link ${seed} -> ${entry(LEGACY, 'current')}`,
      copied(LEGACY),
      'systemctl daemon-reload',
      `systemctl restart ${agent}`,
      ...proved(LEGACY),
    ])
  })

  test.each([
    ['the old binary was copied', { [entry(LEGACY, 'blue')]: { file: 'old' } }],
    [
      'last-good was made',
      { [entry(LEGACY, 'blue')]: { file: 'old' }, [entry(LEGACY, 'last-good')]: { link: entry(LEGACY, 'blue') } },
    ],
  ] as const)('cut while the slots were laid out, after %s: they are laid out by the next run (O-8)', (_, paths) => {
    const plain = laidOut('LEGACY-PLAIN')
    const again = resultOf(upgradeOn({ ...plain, paths: { ...plain.paths, ...paths } }))
    expect(again).toEqual(
      expect.arrayContaining([
        `copy ${seed} to ${entry(LEGACY, 'blue')} (0755 root:root, 3 bytes)`,
        `link ${entry(LEGACY, 'current')} -> ${entry(LEGACY, 'blue')}`,
        `link ${entry(LEGACY, 'current')} -> ${entry(LEGACY, 'green')}`,
      ]),
    )
  })

  const lastGoodOnGreen = { [entry(ROOT, 'last-good')]: { link: entry(ROOT, 'green') } } as const
  const gone = { [entry(ROOT, 'last-good')]: 'absent' } as const
  const secured = `link ${entry(ROOT, 'last-good')} -> ${entry(ROOT, 'blue')}`
  test.each([
    ['leads to the slot that is about to be overwritten', lastGoodOnGreen],
    ['is missing', gone],
  ])('last-good is secured before that slot is touched where it %s (U1)', (_, paths) => {
    expect(resultOf(upgradeOn(laidOut('MOVED', { paths })))).toEqual([hold, secured, ...whole(ROOT).slice(1)])
  })

  test('nothing travels where the other slot holds the candidate already, and it is run all the same', () => {
    const plan = resultOf(upgradeOn(linksOn('MOVED', 'blue', 'blue')))
    expect(plan).toEqual(whole(ROOT).filter((summary) => !summary.startsWith('upload')))
  })

  test('what is sent is sent as the difference to what runs', () => {
    expect(upgradeOn(laidOut('MOVED'))).toMatchObject({
      changes: expect.arrayContaining([
        expect.objectContaining({ kind: 'upload', base: { path: entry(ROOT, 'blue'), sha256: digest('old') } }),
      ]),
    })
  })

  test('what the agent could change by itself until drover has its lock is looked at again under the lock', () => {
    const planned = upgradeOn(laidOut('LINKED'))
    const [, first] = planned.status === 'planned' ? planned.changes : []
    expect(first?.relies).toEqual(
      expect.arrayContaining([
        { path: ROOT, is: 'symlink', target: LEGACY },
        { path: `${ROOT}/.moving`, is: 'absent' },
        { path: '/etc/aks-flex-node/agent-upgrade-signal.json', is: 'absent' },
        expect.objectContaining({ path: '/etc/aks-flex-node/daemon-state.json', is: 'file' }),
      ]),
    )
  })

  test('an inactive agent is switched and stays inactive, and nobody says that it was seen to be well (U5)', () => {
    const planned = upgradeOn(
      laidOut('MOVED', { units: { [agent]: { ...up('MOVED'), ActiveState: 'inactive', exe: '' } } }),
    )
    expect(resultOf(planned)).toEqual(whole(ROOT).slice(0, 6))
    expect(planned).toMatchObject({ findings: [{ check: 'not-health-checked', severity: 'warning' }] })
  })

  test('one that has failed is started, with its start limit out of the way (U5)', () => {
    const failed = { ...up('MOVED'), ActiveState: 'failed', Result: 'start-limit-hit', exe: '', starts: 5 }
    const plan = resultOf(upgradeOn(laidOut('MOVED', { units: { [agent]: failed } })))
    expect(plan).toEqual(
      whole(ROOT).flatMap((summary) => {
        if (summary === arm) return [`systemctl reset-failed ${agent}`, arm]
        return summary === `systemctl restart ${agent}` ? [`systemctl start ${agent}`] : [summary]
      }),
    )
  })

  test('where reset-failed is denied, the window is waited for before anything is armed (U7)', () => {
    const near = { ...up('MOVED'), starts: 4 }
    const plan = resultOf(
      upgradeOn(laidOut('MOVED', { os: { family: 'acl', systemdVersion: 257 }, units: { [agent]: near } })),
    )
    const waits = `wait until ${agent} has room for a start`
    expect(plan).toEqual(whole(ROOT).flatMap((summary) => (summary === arm ? [waits, arm] : [summary])))
  })

  test("a check of the user's own comes last", () => {
    const checks = { health_command: ['kubectl', 'get', 'node'], health_url: 'https://a.example/healthz?sig=abc' }
    expect(resultOf(upgradeOn(laidOut('MOVED'), checks))).toEqual([
      ...whole(ROOT),
      'wait until kubectl get node succeeds',
      'wait until https://a.example/healthz answers',
    ])
  })

  test('a regular file that an old agent would adopt goes, on a host that has moved (U8)', () => {
    const plan = resultOf(upgradeOn(laidOut('MOVED', { paths: { [seed]: { file: 'seed', mode: 0o755 } } })))
    expect(plan).toEqual(whole(ROOT).flatMap((summary) => (summary === arm ? [arm, `remove ${seed}`] : [summary])))
  })

  test('a worker without a place for the binary gets none', () => {
    const paths = { [inWorker]: 'absent', '/var/lib/machines/kube1/usr/local/bin': 'absent' } as const
    const plan = resultOf(upgradeOn(laidOut('MOVED', { paths })))
    expect(plan).toEqual(whole(ROOT).filter((summary) => summary !== copied(ROOT)))
  })
})

const up = (state: SettledState) => laidOut(state).units?.[agent] ?? {}

describe('nothing is done', () => {
  const already = (changes: HostLiteral = {}): HostLiteral => linksOn('MOVED', 'green', 'blue', changes)
  test.each<[what: string, host: HostLiteral]>([
    ['where the binary runs already', already()],
    ['even if somebody holds the lock', already({ probes: { 'activation-lock': 'lock=held\nholder=7 agent -\n' } })],
    [
      'and a stopped agent that has it stays stopped',
      already({ units: { [agent]: { ...up('MOVED'), ActiveState: 'inactive', exe: '' } } }),
    ],
  ])('%s', (_, host) => {
    expect(resultOf(upgradeOn(host))).toEqual([])
  })

  test.each<[what: string, changes: HostLiteral, does: readonly string[]]>([
    [
      'only the link on PATH where that is all that is missing',
      { paths: { [`${ROOT}/bin/aks-flex-node`]: 'absent', [`${ROOT}/bin`]: 'absent' } },
      [
        hold,
        arm,
        `create directory ${ROOT}/bin (0755 root:root)`,
        `link ${ROOT}/bin/aks-flex-node -> ${entry(ROOT, 'current')}`,
      ],
    ],
    ["only the worker's binary", { paths: { [inWorker]: { file: 'old' } } }, [hold, arm, copied(ROOT)]],
    [
      'a start where the agent has failed',
      { units: { [agent]: { ...up('MOVED'), ActiveState: 'failed', Result: 'exit-code', exe: '' } } },
      [hold, arm, `systemctl start ${agent}`, ...proved(ROOT)],
    ],
  ])('but %s', (_, changes, does) => {
    expect(resultOf(upgradeOn(already(changes)))).toEqual(does)
  })
})

describe('refused before anything is staged', () => {
  const moved = (paths: HostLiteral['paths'] = {}): HostLiteral => laidOut('MOVED', { paths })
  const held = (holder: string): HostLiteral =>
    laidOut('MOVED', { probes: { 'activation-lock': `lock=held\nholder=${holder}\n` } })
  const signal = '/etc/aks-flex-node/agent-upgrade-signal.json'
  const anything = { readOnly: true } as const

  test.each<[what: string, host: HostLiteral, code: string, says: RegExp]>([
    ['no agent', {}, 'agent-missing', /install/],
    ['no systemd', { noSystemd: 'no bus' }, 'inspect-failed', /no bus/],
    ['no root', laidOut('MOVED', { os: { uid: 1000 } }), 'inspect-failed', /-b/],
    [
      'STAGING',
      laidOut('LINKED', { paths: { [`${ROOT}.staging`]: { dir: true } } }),
      'move-unfinished',
      /agent\.staging/,
    ],
    ['SWAP-GAP', laidOut('LEGACY', { paths: { [`${ROOT}.staging`]: { dir: true } } }), 'move-unfinished', /SWAP-GAP/],
    ['MOVING', moved({ [`${ROOT}/.moving`]: { file: '' } }), 'move-unfinished', /\.moving/],
    ['CONFLICT', moved({ [entry(LEGACY, 'current')]: { link: 'x' } }), 'move-unfinished', /CONFLICT/],
    [
      'OPERATOR-LINK',
      laidOut('LEGACY', { paths: { [ROOT]: { link: '/data/agent' } } }),
      'layout-unknown',
      /\/data\/agent/,
    ],
    ['BLOCKED', laidOut('LEGACY', { paths: { [ROOT]: { file: '' } } }), 'layout-unknown', /BLOCKED/],
    [
      'EMPTY-ROOT',
      { ...laidOut('LEGACY-PLAIN'), paths: { ...laidOut('LEGACY-PLAIN').paths, [ROOT]: { dir: true } } },
      'layout-unknown',
      /EMPTY-ROOT/,
    ],
    [
      'current leads nowhere',
      moved({ [entry(ROOT, 'current')]: { link: '/nowhere' }, '/nowhere': 'absent' }),
      'layout-unknown',
      /\/nowhere/,
    ],
    ['current is a file', moved({ [entry(ROOT, 'current')]: { file: 'old' } }), 'layout-unknown', /file/],
    ["a slot is somebody else's", moved({ [entry(ROOT, 'green')]: { file: 'x', uid: 7 } }), 'layout-unknown', /green/],
    ['a slot is a directory', moved({ [entry(ROOT, 'green')]: { dir: true } }), 'layout-unknown', /directory/],
    [
      'the active side is not known (O-15)',
      moved({ '/etc/aks-flex-node/daemon-state.json.sha256': 'absent' }),
      'state-unreadable',
      /missing/,
    ],
    [
      'the lock is held',
      held('7 aks-flex-node aks-flex-node-agent.service'),
      'activation-locked',
      /7 .aks-flex-node. of aks-flex-node-agent/,
    ],
    [
      'an upgrade of the agent is pending',
      moved({ [signal]: { file: '{"operationName":"op-1"}', modifiedS: 1_000_000 - 840 } }),
      'upgrade-pending',
      /op-1 is pending for 14 minutes/,
    ],
    [
      'a damaged signal is one as well',
      moved({ [signal]: { file: '{', modifiedS: 999_990 } }),
      'upgrade-pending',
      /10 seconds/,
    ],
    [
      'the agent is being stopped',
      laidOut('MOVED', { units: { [agent]: { ...up('MOVED'), ActiveState: 'deactivating' } } }),
      'precondition-unmet',
      /stopped/,
    ],
    [
      'somebody switched and did not restart',
      linksOn('MOVED', 'green', 'blue', { units: { [agent]: up('MOVED') } }),
      'layout-unknown',
      /restart/,
    ],
    [
      'the unit runs something else',
      laidOut('MOVED', { units: { [agent]: { ...up('MOVED'), ExecStart: execStart('/opt/wrapper') } } }),
      'layout-unknown',
      /\/opt\/wrapper/,
    ],
    [
      'the container variant runs something else',
      laidOut('LEGACY-PLAIN', { units: { [agent]: { ...up('LEGACY-PLAIN'), Requires: 'containerd.service' } } }),
      'layout-unknown',
      /container variant/,
    ],
    ['the agent runs from the seed (#398)', moved398(), 'precondition-unmet', /#398/],
    [
      'a link at the old place leads to an executable (U8)',
      moved({ [seed]: { link: '/srv/agent' }, '/srv/agent': { file: 'x', mode: 0o755 } }),
      'precondition-unmet',
      /\/usr\/local\/sbin/,
    ],
    [
      'the binary in the worker is a link',
      moved({ [inWorker]: { link: '/usr/bin/agent' }, '/usr/bin/agent': 'absent' }),
      'path-in-the-way',
      /link/,
    ],
    [
      'the link on PATH is a directory',
      moved({ [`${ROOT}/bin/aks-flex-node`]: { dir: true } }),
      'path-in-the-way',
      /directory/,
    ],
    ['no binary for the host', laidOut('MOVED', { os: { architecture: 'aarch64' } }), 'candidate-unfit', /arm64/],
    ['no agent is built for it', laidOut('MOVED', { os: { architecture: 'riscv64' } }), 'candidate-unfit', /riscv64/],
    [
      'read-only units',
      laidOut('MOVED', { mounts: { '/etc/systemd/system': anything } }),
      'precondition-unmet',
      /read-only/,
    ],
    [
      'read-only /var/lib',
      laidOut('MOVED', { mounts: { '/var/lib/drover': anything } }),
      'precondition-unmet',
      /read-only/,
    ],
    [
      'a read-only root',
      laidOut('MOVED', { mounts: { [`${ROOT}/lib/aks-flex-node`]: anything } }),
      'precondition-unmet',
      /read-only/,
    ],
    [
      'a noexec root',
      laidOut('MOVED', { mounts: { [`${ROOT}/lib/aks-flex-node`]: { noexec: true } } }),
      'precondition-unmet',
      /noexec/,
    ],
    [
      'no room',
      laidOut('MOVED', { mounts: { [`${ROOT}/lib/aks-flex-node`]: { freeBytes: 2 } } }),
      'no-space',
      /3 bytes/,
    ],
    ['no inode', laidOut('MOVED', { mounts: { '/var/lib/drover': { freeInodes: 1 } } }), 'no-space', /1 inodes/],
    [
      'others would start',
      laidOut('MOVED', {
        units: { 'machines.target': { UnitFileState: 'disabled' } },
        paths: { '/etc/systemd/system/machines.target.wants/systemd-nspawn@mine.service': { link: '/x' } },
      }),
      'would-start-others',
      /mine/,
    ],
  ])('%s', (_, host, code, says) => {
    const planned = upgradeOn(host)
    expect(planned).toMatchObject({ status: 'blocked', error: { code } })
    if ('error' in planned) expect(`${planned.error.message} ${planned.error.remedy}`).toMatch(says)
  })

  test.each<[what: string, host: HostLiteral]>([
    ["the lock is that of our own dead run's guard", held('7 flock drover-guard.service')],
    ['a link at the old place leads nowhere', moved({ [seed]: { link: '/gone' }, '/gone': 'absent' })],
    ['others may start', laidOut('MOVED')],
  ])('not where %s', (_, host) => {
    expect(upgradeOn(host)).toMatchObject({ status: 'planned' })
  })

  test('others may start where they are allowed to', () => {
    const host = laidOut('MOVED', {
      units: { 'machines.target': { UnitFileState: 'disabled' } },
      paths: { '/etc/systemd/system/machines.target.wants/systemd-nspawn@mine.service': { link: '/x' } },
    })
    expect(upgradeOn(host, { allow_start: ['mine'] })).toMatchObject({ status: 'planned' })
  })
})

/** A host that has moved, with its agent still running from the seed at the old place. */
function moved398(): HostLiteral {
  return laidOut('MOVED', {
    units: { [agent]: { ...up('MOVED'), ExecStart: execStart(seed), exe: seed } },
    paths: { [seed]: { file: 'seed', mode: 0o755 } },
  })
}

describe('a release that may not know the host root (U8, U9)', () => {
  const old = release('v0.2.0', 'new')
  const dev = release('dev', 'new')
  const silent: Release = { version: wanted.version, sources: wanted.sources, binaries: wanted.binaries ?? {} }
  const declared = release('dev', 'new', { hostRootSince: 'dev' })
  const listed = { '/etc/aks-flex-node/host-root-agents': { file: `${digest('x')}\n${digest('new')}\n` } } as const

  test.each<[what: string, state: SettledState, of: Release, paths: HostLiteral['paths'], refused: boolean]>([
    ['an older one cannot run on a host that has moved', 'MOVED', old, {}, true],
    ['it can on one that is only linked', 'LINKED', old, {}, false],
    ['and on one that is neither', 'LEGACY', old, {}, false],
    ['of a build without a number nobody knows', 'MOVED', dev, {}, true],
    ['there either', 'LINKED', dev, {}, true],
    ['where there is no host root it does not matter', 'LEGACY', dev, {}, false],
    ['unless it is declared', 'MOVED', declared, {}, false],
    ['without hostRootSince nobody knows', 'MOVED', silent, {}, true],
    ['there either', 'LINKED', silent, {}, true],
    ['where there is no host root it is not needed', 'LEGACY-PLAIN', silent, {}, false],
    ['the host may have seen it know', 'MOVED', silent, listed, false],
    ['whatever its version says', 'LINKED', dev, listed, false],
  ])('%s (%s)', (_, state, of, paths, refused) => {
    const planned = upgradeOn(laidOut(state, { paths }), {}, of)
    expect(planned).toMatchObject(refused ? { error: { code: 'downgrade-refused' } } : { status: 'planned' })
    if (refused)
      expect(upgradeOn(laidOut(state, { paths }), { allow_host_root_downgrade: true }, of)).toMatchObject({
        status: 'planned',
      })
  })
})

describe('a rollback that another run armed (U4)', () => {
  const text = (candidate: string): string => `run-1 ann@ws 2026-11-30T10:00:00Z 1190 ${candidate} upgrade to v0.4.0`
  const armed = (candidate: string, phase: 'armed' | 'undoing' = 'armed'): HostLiteral['self'] => ({
    rollback: { phase, text: text(candidate), isProved: true },
  })
  const running = (self: HostLiteral['self'], changes: HostLiteral = {}): HostLiteral =>
    linksOn('MOVED', 'green', 'blue', { self: self ?? {}, ...changes })

  test('is disarmed where it guards the very release that is wanted, and that runs and was proved', () => {
    expect(resultOf(upgradeOn(running(armed(digest('new')))))).toEqual(['disarm the rollback of run run-1'])
  })

  test.each<[what: string, host: HostLiteral, says: RegExp]>([
    [
      'it guards another',
      running(armed(digest('other'))),
      /fires in 190 s.*drover confirm -l node-1.*drover rollback --now/,
    ],
    [
      'it guards what is wanted, and that does not run',
      running(armed(digest('new')), { units: { [agent]: { ...up('MOVED'), ActiveState: 'failed', exe: '' } } }),
      /fires in 190 s/,
    ],
    [
      'it was not switched yet',
      linksOn('MOVED', 'blue', 'blue', { self: armed(digest('new')) ?? {} }),
      /fires in 190 s/,
    ],
    [
      'it was switched and not restarted',
      running(armed(digest('new')), { units: { [agent]: up('MOVED') } }),
      /fires in 190 s/,
    ],
    [
      'it guards what is wanted, and that runs, and was never proved',
      running({ rollback: { phase: 'armed', text: text(digest('new')) } }),
      /has not been proved: .*drover confirm -l node-1.*drover rollback --now/,
    ],
    [
      'it is being undone',
      running(armed(digest('new'), 'undoing')),
      /being carried out\. .*ends by itself.*drover rollback --now -l node-1 .*waits/,
    ],
    ['nobody can read whose it is', running({ rollback: { phase: 'armed', text: '' } }), /is due/],
  ])('stops this one where %s', (_, host, says) => {
    const planned = upgradeOn(host)
    expect(planned).toMatchObject({ status: 'blocked', error: { code: 'rollback-armed' } })
    if ('error' in planned) expect(`${planned.error.message} ${planned.error.remedy}`).toMatch(says)
  })
})

describe('parameters', () => {
  const written: Value = { version: 'v0.4.0', amd64: { file: 'a', sha256: digest('new') } }
  test.each<[what: string, more: { readonly [key: string]: Value }, says: RegExp | null]>([
    ['the defaults', {}, null],
    ['the short ones of tests', { confirm_within_s: 20, within_s: 10, stable_s: 3 }, null],
    [
      'a rollback that fires while it is still waited for',
      { confirm_within_s: 20, within_s: 15, stable_s: 3 },
      /5 s too short/,
    ],
    ["the user's own checks take time as well", { confirm_within_s: 120, health_url: 'http://a/' }, /32 s too short/],
    [
      'a restart and a new connection take time as well',
      { confirm_within_s: 20, within_s: 10, stable_s: 4 },
      /1 s too short/,
    ],
    ['a command without a program', { health_command: [''] }, /empty/],
    ['an address of another kind', { health_url: 'file:///etc/passwd' }, /URL/],
    ['an address with a password', { health_url: 'https://user:hunter2@a.example/x' }, /a user or a password/],
    ['an address with a user', { health_url: 'https://user@a.example/x' }, /a user or a password/],
    ['one without, in whose path there is an @', { health_url: 'https://a.example/x@y' }, null],
  ])('%s', (_, more, says) => {
    const faults = faultsOf(agentUpgraded as never, { release: written, ...more })
    if (says === null) expect(faults).toEqual([])
    else expect(faults).toEqual([expect.stringMatching(says)])
  })

  test('the release is fetched before any host is touched', async () => {
    const params = upgradeParams({}, { version: 'v1', sources: { amd64: { file: 'f', sha256: 'ab' } } })
    expect(await agentUpgraded.prepare?.(params, fakeReleases)).toMatchObject({
      confirm_within_s: 300,
      release: { version: 'v1', binaries: { amd64: { file: 'f', sha256: 'ab' } } },
    })
  })
})

test('a host without an agent from any release of ours is left alone', () => {
  // Its unit shows nothing of what it runs.
  expect(upgradeOn(runningHost())).toMatchObject({ error: { code: 'layout-unknown' } })
})

test('the unit that is written keeps what the old one waited for, and is loaded as it was meant', () => {
  const arc = laidOut('LEGACY-PLAIN', { paths: { [unitFile]: { file: 'After=himdsd.service\n' } } })
  const planned = upgradeOn(arc)
  const write =
    planned.status === 'planned'
      ? planned.changes.find((change) => change.kind === 'write' && change.path === unitFile)
      : undefined
  expect(write).toMatchObject({
    content: expect.stringContaining('himdsd.service'),
    model: { unit: agent, sets: { ExecStart: expect.stringContaining(entry(LEGACY, 'current')) } },
  })
})
