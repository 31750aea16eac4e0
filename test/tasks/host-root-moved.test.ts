import { describe, expect, test } from 'vitest'
import { probeKey } from '../../src/facts/fact.ts'
import type { Value } from '../../src/playbook/value.ts'
import { LEGACY, ROOT, stagingRoot } from '../../src/tasks/agent/paths.ts'
import { hostRootMoved } from '../../src/tasks/host-root-moved.ts'
import { execStart, laidOut } from './deployed.ts'
import { paramsOf, planOn, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import {
  agent,
  agentsFile,
  digest,
  entry,
  helperOf,
  legacy,
  linked,
  localDns,
  localDnsOf,
  movedHost,
  moving1,
  moving2,
  override,
  regenerate,
  running,
  silent,
  stagingHost,
  swapGap,
  unitsOn,
} from './move/moving.ts'

const since = { host_root_since: 'v0.3.0' } as const
const lock = '/run/aks-flex-node-agent-upgrade.lock'
const hold = `hold the lock ${lock}`
const release = `let go of the lock ${lock}`
const reload = 'systemctl daemon-reload'
const unitFile = '/etc/systemd/system/aks-flex-node-agent.service'
const recoveryFile = '/etc/systemd/system/aks-flex-node-agent-recovery.service'
const at = (path: string): string => `${stagingRoot}${path.slice(LEGACY.length)}`
const copy = (path: string, mode = '0755'): RegExp =>
  new RegExp(`^copy ${path} to ${at(path)} \\(${mode} root:root, \\d+ bytes\\)$`)
const says = (path: string): string => `wait until ${path} version succeeds`
const write = (path: string): RegExp => new RegExp(`^write ${path.replaceAll(/[@.]/g, '\\$&')} `)
const matching = (...lines: readonly (string | RegExp)[]) =>
  lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line)))
const blockedBy = (host: HostLiteral, input: { [key: string]: Value } = since) => result(hostRootMoved, input, host)
const planFor = (host: HostLiteral, input: { [key: string]: Value } = since) => {
  const params = paramsOf(hostRootMoved, input)
  return planOn(hostRootMoved, params, stateFor(hostRootMoved, params, host))
}
const changesOf = (host: HostLiteral) => {
  const plan = planFor(host)
  if (plan.status !== 'planned') throw new Error(`it is ${plan.status}`)
  return plan.changes
}

const copied = matching(
  `create directory ${stagingRoot} (0755 root:root)`,
  `create directory ${stagingRoot}/bin (0755 root:root)`,
  `create directory ${stagingRoot}/lib (0755 root:root)`,
  `create directory ${stagingRoot}/lib/aks-flex-node (0750 root:root)`,
  `create directory ${stagingRoot}/libexec (0755 root:root)`,
  copy(entry(LEGACY, 'blue')),
  copy(entry(LEGACY, 'green')),
  `link ${entry(stagingRoot, 'current')} -> ${entry(ROOT, 'blue')}`,
  `link ${entry(stagingRoot, 'last-good')} -> ${entry(ROOT, 'green')}`,
  copy(entry(LEGACY, 'recovery.sh'), '0750'),
  copy(helperOf(LEGACY)),
  copy(localDnsOf(LEGACY)),
  `link ${stagingRoot}/bin/aks-flex-node -> ${entry(ROOT, 'current')}`,
  `write ${stagingRoot}/.moving (0644 root:root, 0 bytes)`,
  says(entry(stagingRoot, 'blue')),
  says(entry(stagingRoot, 'green')),
)
const swapped = [`remove ${ROOT}`, `rename ${stagingRoot} to ${ROOT}`, says(entry(ROOT, 'current'))]
const hooked = [override, regenerate, localDns].map(write)
const named = matching(write(entry(ROOT, 'recovery.sh')), write(recoveryFile), write(unitFile), ...hooked)
const started = [
  `systemctl reset-failed ${agent}`,
  `systemctl restart ${agent}`,
  `wait until ${agent} runs ${entry(ROOT, 'blue')} for 45 s`,
  'wait until systemd-nspawn@kube1.service is seen to be untouched',
]
const whole = [hold, ...copied, ...swapped, ...named, reload, release, ...started]

describe('M4 the first pass from where the host stands', () => {
  test('28: LINKED: copied beside, run, swapped in, run again, named, let go, started', () => {
    expect(blockedBy(linked())).toEqual(whole)
  })

  test('30: STAGING: what lies there is of unknown age, and is made anew', () => {
    expect(blockedBy(stagingHost())).toEqual([hold, `remove ${stagingRoot} and all in it`, ...whole.slice(1)])
  })

  test('30: MOVING-1: nothing is copied again; the copy is run, and the rest of it done', () => {
    const rest = matching(hold, says(entry(ROOT, 'current')), write(recoveryFile), write(unitFile), ...hooked)
    expect(blockedBy(moving1())).toEqual([...rest, reload, release, ...started])
  })

  test('30: MOVING-1 with all names on the new root: the restart alone was lost', () => {
    const host = moving1({ paths: unitsOn(ROOT), units: { [agent]: running('active', ROOT, LEGACY) } })
    expect(blockedBy(host)).toEqual(started)
    expect(changesOf(host)[0]?.relies).toEqual([{ path: `${ROOT}/.moving`, is: 'file' }])
  })

  test('30: MOVING-1 with units that systemd has not loaded yet', () => {
    expect(blockedBy(moving1({ paths: unitsOn(ROOT) }))).toEqual([
      hold,
      says(entry(ROOT, 'current')),
      reload,
      release,
      ...started,
    ])
  })

  test.each<[state: string, host: HostLiteral]>([
    ['MOVING-2', moving2()],
    ['MOVED', movedHost()],
    [
      'MOVED, as a container',
      movedHost({ units: { [agent]: { ...running('active', ROOT, ROOT), Requires: 'containerd.service' } } }),
    ],
  ])('%s: the first pass is over', (_, host) => expect(blockedBy(host)).toEqual([]))

  test.each<[state: string, host: HostLiteral, code: string]>([
    ['LEGACY', legacy(), 'move-not-ready'],
    ['SWAP-GAP', swapGap(), 'move-not-ready'],
    ['LEGACY-PLAIN', laidOut('LEGACY-PLAIN'), 'move-not-ready'],
    ['ABSENT', {}, 'agent-missing'],
    ['EMPTY-ROOT', { paths: { [ROOT]: { dir: [] } } }, 'agent-missing'],
    ['LINK-ORPHAN', { paths: { [ROOT]: { link: LEGACY } } }, 'agent-missing'],
    ['ABSENT, but for its unit', { paths: { [unitFile]: { file: 'unit' } } }, 'layout-unknown'],
    ['OPERATOR-LINK', legacy({ paths: { [ROOT]: { link: '/data' } } }), 'operator-link'],
    ['CONFLICT', legacy({ paths: { [ROOT]: { dir: [] } } }), 'move-unfinished'],
    ['BLOCKED', legacy({ paths: { [ROOT]: 'other' } }), 'layout-unknown'],
    ['UNREADABLE', { ...legacy(), os: { uid: 1000 } }, 'state-unreadable'],
  ])('%s is no host for it', (_, host, code) => {
    expect(blockedBy(host)).toEqual({ blocked: code === 'state-unreadable' ? 'inspect-failed' : code })
  })

  test('--stop-at link: whatever the state, nothing is moved', () => {
    for (const host of [legacy(), linked(), stagingHost(), moving1()])
      expect(blockedBy(host, { stop_at: 'link' })).toEqual([])
  })
})

describe('28: the units', () => {
  test('M6 the helper comes from the binary that runs, and before the hooks that name it (29)', () => {
    const plan = blockedBy(linked({ paths: { [helperOf(LEGACY)]: { file: 'ancient', mode: 0o755 } } })) as string[]
    const brought = `copy ${entry(ROOT, 'blue')} to ${helperOf(ROOT)} (0755 root:root, 3 bytes)`
    expect(plan.indexOf(brought)).toBeGreaterThan(plan.findIndex((line) => write(unitFile).test(line)))
    expect(plan.indexOf(brought)).toBeLessThan(plan.findIndex((line) => write(override).test(line)))
    expect(changesOf(moving1({ paths: { [helperOf(ROOT)]: { file: 'ancient' } } }))).toContainEqual(
      expect.objectContaining({ kind: 'copy', path: helperOf(ROOT), sha256: digest('old') }),
    )
  })

  test('a host without a helper gets none', () => {
    const paths = { [helperOf(LEGACY)]: 'absent', [override]: 'absent', [regenerate]: 'absent' } as const
    expect((blockedBy(linked({ paths })) as string[]).join()).not.toContain('unbounded-agent-nspawn-lifecycle')
  })

  test('the wiring of Arc stays', () => {
    const paths = { [unitFile]: { file: 'Wants=himdsd.service\n' } }
    const unit = changesOf(linked({ paths })).find((change) => 'path' in change && change.path === unitFile)
    expect(unit).toMatchObject({ content: expect.stringContaining('himdsd.service') })
  })

  test('where SELinux is on, labels are put right before the copy is run at its place', () => {
    const plan = blockedBy(linked({ programs: { restorecon: '/sbin/restorecon' } })) as string[]
    expect(plan).toContainEqual(expect.stringContaining(`/sbin/restorecon -RF ${ROOT}`))
    const off = { os: { selinux: 'disabled' }, programs: { restorecon: '/sbin/restorecon' } } as const
    expect(blockedBy(linked(off))).toEqual(whole)
  })

  test.each(['absent', { file: 'seed' }] as const)('the binary is a link to what runs, where it was %j', (node) => {
    expect(blockedBy(linked({ paths: { [`${LEGACY}/bin/aks-flex-node`]: node } }))).toEqual(whole)
  })

  test('a link of somebody else at the old root leads where it led', () => {
    const paths = { [`${LEGACY}/bin/aks-flex-node`]: { link: '/srv/agent' }, '/srv/agent': 'absent' } as const
    expect(blockedBy(linked({ paths }))).toContain(`link ${stagingRoot}/bin/aks-flex-node -> /srv/agent`)
  })
})

describe('the restart', () => {
  test('U5 an agent that is stopped stays stopped, and it is said who makes both passes', () => {
    const host = linked({ units: { [agent]: running('inactive', LEGACY, LEGACY) } })
    expect(blockedBy(host)).toEqual(whole.slice(0, -started.length))
    expect(planFor(host)).toMatchObject({ findings: [{ check: 'moved-while-stopped', severity: 'warning' }] })
  })

  test('U5 one that has failed is started', () => {
    const plan = blockedBy(linked({ units: { [agent]: running('failed', LEGACY, LEGACY) } }))
    expect(plan).toEqual(expect.arrayContaining([`systemctl start ${agent}`]))
  })

  test('42: where reset-failed is denied (#385) room in the start limit is waited for, before the lock is held', () => {
    const acl = { os: { family: 'acl', systemdVersion: 257 } } as const
    const full = { [agent]: { ...running('active', LEGACY, LEGACY), starts: 4 } }
    const plan = blockedBy(linked({ ...acl, units: full })) as string[]
    expect(plan[0]).toBe(`wait until ${agent} has room for a start`)
    expect(plan[1]).toBe(hold)
    expect(plan).not.toContain(`systemctl reset-failed ${agent}`)
    expect(blockedBy(linked(acl))).toEqual(whole.filter((line) => line !== `systemctl reset-failed ${agent}`))
  })

  test('what is to run is known by its real place, where /opt is a link', () => {
    const plan = blockedBy(linked({ paths: { '/opt': { link: '/data' }, '/data': { dir: true } } }))
    expect(plan).toContain(`wait until ${agent} runs /data${entry(ROOT, 'blue').slice('/opt'.length)} for 45 s`)
  })

  const down = {
    'machines.target': { UnitFileState: 'disabled', Wants: 'systemd-nspawn@kube1.service systemd-nspawn@mine.service' },
    'systemd-nspawn@kube1.service': { UnitFileState: 'enabled' },
  } as const
  test('W2 what else it would start is refused, and allowed by name', () => {
    expect(blockedBy(linked({ units: down }))).toEqual({ blocked: 'would-start-others' })
    expect(blockedBy(linked({ units: down }), { ...since, allow_start: ['mine'] })).toContain(
      `systemctl restart ${agent}`,
    )
  })

  test('M5 time is left for a restart that the agent has queued by itself', () => {
    const waits = changesOf(moving1()).find(
      (change) => change.kind === 'await' && change.condition.is === 'running-from',
    )
    expect(waits).toMatchObject({ stableMs: 45_000, withinMs: 150_000 })
  })
})

describe('31: a copy that does not run is put back', () => {
  const names = matching(write(recoveryFile), write(unitFile), ...hooked)
  const back = [`rename ${ROOT} to ${stagingRoot}`, `link ${ROOT} -> ${LEGACY}`, `remove ${stagingRoot} and all in it`]
  const atRoot = entry(ROOT, 'current')

  test.each<[what: string, host: HostLiteral, wanted: readonly unknown[]]>([
    ['as it was swapped in', moving1(), [hold, ...back, release]],
    [
      'as units name it already',
      moving1({ paths: unitsOn(ROOT), units: { [agent]: running('activating', ROOT, ROOT) } }),
      [hold, ...names, reload, ...back, release],
    ],
    [
      'and an agent that failed over it is started',
      moving1({ paths: unitsOn(ROOT), units: { [agent]: running('failed', ROOT, ROOT) } }),
      [
        ...[hold, ...names, reload, ...back, release, `systemctl start ${agent}`],
        `wait until ${agent} runs ${entry(LEGACY, 'blue')} for 45 s`,
        'wait until systemd-nspawn@kube1.service is seen to be untouched',
      ],
    ],
  ])('%s', (_, host, wanted) => {
    expect(blockedBy(silent(host, atRoot))).toEqual(wanted)
    expect(planFor(silent(host, atRoot))).toMatchObject({ fails: { code: 'copy-unfit' } })
  })

  test.each([
    silent(moving1({ self: { owed: ['daemon-reload'] } }), atRoot),
    silent(stagingHost({ self: { owed: ['daemon-reload'] } }), entry(stagingRoot, 'blue')),
  ])('the reload that the failed step owes is paid, so that nothing is owed by it', (host) => {
    expect((blockedBy(host) as string[])[1]).toBe(reload)
  })

  test('W2 it is put back and not started where that would start others along, which is said', () => {
    const host = moving1({
      paths: { ...unitsOn(ROOT), '/etc/systemd/system/machines.target.wants': { dir: ['systemd-nspawn@db1.service'] } },
      units: { [agent]: running('failed', ROOT, ROOT), 'machines.target': { ActiveState: 'inactive' } },
    })
    expect((blockedBy(silent(host, atRoot)) as string[]).at(-1)).toBe(release)
    expect(planFor(silent(host, atRoot))).toMatchObject({
      fails: { code: 'copy-unfit', message: expect.stringContaining('The agent was not started') },
    })
  })

  test('before it was swapped in: the copy is removed', () => {
    const host = silent(stagingHost(), entry(stagingRoot, 'green'))
    expect(blockedBy(host)).toEqual([hold, `remove ${stagingRoot} and all in it`, release])
    expect(planFor(host)).toMatchObject({ fails: { code: 'copy-unfit' } })
  })

  test('not one that is another binary than the one that runs: it is made anew', () => {
    const host = stagingHost({ paths: { [entry(stagingRoot, 'blue')]: { file: 'cut', mode: 0o755 } } })
    expect(blockedBy(silent(host, entry(stagingRoot, 'blue')))).toContain(`remove ${ROOT}`)
  })

  test('not where the old root is no whole installation any more', () => {
    for (const name of ['current', 'last-good', 'blue', 'green']) {
      const host = moving1({ paths: { [entry(LEGACY, name)]: 'absent' } })
      expect(blockedBy(silent(host, atRoot))).toEqual({ blocked: 'move-stuck' })
    }
    expect(blockedBy(silent(moving1(), atRoot, entry(LEGACY, 'current')))).toEqual({ blocked: 'move-stuck' })
  })

  test('nor one that was not run since others than root could write it', () => {
    const params = paramsOf(hostRootMoved, since)
    const state = stateFor(hostRootMoved, params, silent(moving1(), atRoot))
    const unseen = { code: 126, stdout: 'writable=/opt\n' }
    const probes = new Map(state.probes).set(probeKey('agent-version', [atRoot]), unseen)
    expect(planOn(hostRootMoved, params, { ...state, probes })).not.toHaveProperty('fails')
  })
})

describe('what keeps a host from being moved', () => {
  const noneSaid = { host_root_since: null }
  const listed = (...binaries: readonly string[]) => ({
    [agentsFile]: { file: binaries.map((binary) => `${digest(binary)}\n`).join('') },
  })
  test.each<[what: string, host: HostLiteral, input: { [key: string]: Value }, code: string]>([
    ['U9 nobody says since when agents know it', linked(), noneSaid, 'move-not-ready'],
    ['U9 one of two digests is no proof', linked({ paths: listed('old') }), noneSaid, 'move-not-ready'],
    [
      'U9 last-good is older',
      linked({ versions: { [entry(LEGACY, 'last-good')]: 'v0.2.0' } }),
      since,
      'move-not-ready',
    ],
    ['U9 current is older', linked({ versions: { [entry(LEGACY, 'current')]: 'v0.2.9' } }), since, 'move-not-ready'],
    [
      'U9 a version without a number',
      linked({ versions: { [entry(LEGACY, 'current')]: 'dev' } }),
      since,
      'move-not-ready',
    ],
    ['U9 none at all', silent(linked(), entry(LEGACY, 'last-good')), since, 'move-not-ready'],
    ['last-good leads nowhere', linked({ paths: { [entry(LEGACY, 'green')]: 'absent' } }), since, 'move-not-ready'],
    ['27: /opt is noexec', linked({ mounts: { '/opt/unbounded': { noexec: true } } }), since, 'root-noexec'],
    ['M5 too few bytes', linked({ mounts: { '/opt/unbounded': { freeBytes: 100 } } }), since, 'no-space'],
    ['M5 too few inodes', linked({ mounts: { '/opt/unbounded': { freeInodes: 20 } } }), since, 'no-space'],
    [
      '/usr is read-only',
      linked({ mounts: { [`${LEGACY}/lib/aks-flex-node`]: { readOnly: true } } }),
      since,
      'precondition-unmet',
    ],
    [
      'an upgrade is pending',
      linked({ paths: { '/etc/aks-flex-node/agent-upgrade-signal.json': { file: '{}' } } }),
      since,
      'upgrade-pending',
    ],
    [
      'somebody holds the lock',
      linked({ probes: { 'activation-lock': 'lock=held\nholder=7 x y.service\n' } }),
      since,
      'activation-locked',
    ],
    [
      'the same, later',
      moving1({ probes: { 'activation-lock': 'lock=held\nholder=7 x y.service\n' } }),
      since,
      'activation-locked',
    ],
    [
      'the agent is being stopped',
      linked({ units: { [agent]: { ...running('active', LEGACY, LEGACY), ActiveState: 'deactivating' } } }),
      since,
      'precondition-unmet',
    ],
    [
      'W5 the container variant',
      linked({ units: { [agent]: { ...running('active', LEGACY, LEGACY), Requires: 'containerd.service' } } }),
      since,
      'layout-unknown',
    ],
    [
      'the unit runs something else',
      linked({ units: { [agent]: { ...running('active', LEGACY, LEGACY), ExecStart: execStart('/srv/x') } } }),
      since,
      'layout-unknown',
    ],
    [
      'a directory where a file belongs',
      linked({ paths: { [localDnsOf(LEGACY)]: { dir: [] } } }),
      since,
      'path-in-the-way',
    ],
    [
      'a masked unit',
      linked({ paths: { [recoveryFile]: { link: '/dev/null' }, '/dev/null': 'other' } }),
      since,
      'layout-unknown',
    ],
    [
      'nobody knows the active side',
      linked({ paths: { '/etc/aks-flex-node/daemon-state.json': { file: '{' } } }),
      since,
      'state-unreadable',
    ],
  ])('%s', (_, host, input, code) => {
    expect(blockedBy(host, input)).toEqual({ blocked: code })
    expect(refusal(hostRootMoved, input, host)).toMatch(/\S/)
  })

  test('U9 the digests of both are proof, and a build without a number is known by its own name', () => {
    expect(blockedBy(linked({ paths: listed('old', 'older') }), noneSaid)).toEqual(whole)
    const dev = { [entry(LEGACY, 'current')]: 'dev', [entry(LEGACY, 'last-good')]: 'dev' }
    expect(blockedBy(linked({ versions: dev }), { host_root_since: 'dev' })).toEqual(whole)
  })

  test.each([
    ['/opt/unbounded', { dir: true, mode: 0o777 }],
    ['/opt/unbounded', { dir: true, mode: 0o775 }],
    ['/opt/unbounded', { dir: true, uid: 1000 }],
    ['/opt', { dir: true, mode: 0o757 }],
  ] as const)('others than root may write in %s (%j), and what lies there is run by root', (path, node) => {
    expect(planFor(linked({ paths: { [path]: node } }))).toMatchObject({
      status: 'blocked',
      error: { code: 'precondition-unmet', message: expect.stringContaining(`write in ${path},`) },
    })
  })

  test('U5 nothing is started on a host whose agent is just being stopped, half moved or not', () => {
    for (const host of [linked, moving1])
      expect(blockedBy(host({ units: { [agent]: running('deactivating', LEGACY, LEGACY) } }))).toEqual({
        blocked: 'precondition-unmet',
      })
  })

  test('M5 a file system that counts no inodes has enough of them', () => {
    expect(blockedBy(linked({ mounts: { '/opt/unbounded': { fsType: 'btrfs', freeInodes: 0 } } }))).toEqual(whole)
  })

  test('what the agent could have changed until drover has its lock is looked at again under the lock', () => {
    const [, first] = changesOf(linked())
    expect(first?.relies).toEqual(
      expect.arrayContaining([
        { path: ROOT, is: 'symlink', target: LEGACY },
        { path: `${ROOT}/.moving`, is: 'absent' },
        { path: stagingRoot, is: 'absent' },
        { path: '/etc/aks-flex-node/agent-upgrade-signal.json', is: 'absent' },
        expect.objectContaining({ path: '/etc/aks-flex-node/daemon-state.json', is: 'file' }),
        // An upgrade back and forth leaves the same two files, and other links.
        { path: entry(LEGACY, 'current'), is: 'symlink', target: entry(LEGACY, 'blue') },
        { path: entry(LEGACY, 'last-good'), is: 'symlink', target: entry(LEGACY, 'green') },
      ]),
    )
  })
})
