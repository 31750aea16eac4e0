import { describe, expect, test } from 'vitest'
import { summaryOf } from '../../../src/changes/describe.ts'
import { hostRoots, LEGACY, movingMark, ROOT, stagingRoot } from '../../../src/tasks/agent/paths.ts'
import { agentUninstalled } from '../../../src/tasks/agent-uninstalled.ts'
import { shippedPlay } from '../../playbook/shipped.ts'
import { faultsOf, refusal, result } from '../general/planning.ts'
import type { HostLiteral, PathLiteral } from '../host-state.ts'
import { hosts, layoutNames, operatorsPlace, resetStates } from './hosts.ts'
import { expectGone, runReset } from './looks.ts'
import { carryOut, hostFor, isThere } from './simulated.ts'

const meant = { yes_remove_everything: true }
const bare: HostLiteral = { probes: { 'mounts-below': 'whole=yes\n', 'network-left': 'table=absent\nwhole=yes\n' } }
const onlyFiles = (paths: Record<string, PathLiteral>): HostLiteral => ({ ...bare, paths })
const uninstallOf = (host: HostLiteral) => runReset(host, meant, {}, 'uninstall')

const everyFile = [...hostRoots, stagingRoot, operatorsPlace].flatMap((root) => [
  ...layoutNames.map((name) => `${root}/${name}`),
  `${root}/lib/aks-flex-node`,
])

describe.each(resetStates)('11.24 uninstall of a host that is %s', (name) => {
  test.each([{}, { agent_reset: false }])('leaves nothing of the agent, and a second one plans nothing: %j', (vars) => {
    const play = shippedPlay('uninstall', { ...meant, ...vars })
    const before = hostFor(play, hosts[name]())
    expect(everyFile.filter((path) => isThere(before, path)).length).toBeGreaterThan(3)
    const end = carryOut(play, before)
    expect(end.error).toBeUndefined()
    expectGone(end.state)
    expect(everyFile.filter((path) => isThere(end.state, path))).toEqual([])
    for (const path of [movingMark, stagingRoot, '/var/lib/aks-flex-node']) expect(isThere(end.state, path)).toBe(false)
    for (const path of ['/opt/unbounded', '/opt/unbounded/artifacts', `${LEGACY}/bin`])
      expect(isThere(end.state, path), path).toBe(true)
    expect(isThere(end.state, ROOT)).toBe(name === 'OPERATOR-LINK')
    expect(carryOut(play, end.state)).toMatchObject({ changes: [], looks: [0] })
  })

  test('one that was cut anywhere is ended by the next', () => {
    const play = shippedPlay('uninstall', { ...meant, agent_reset: false })
    const before = hostFor(play, hosts[name]())
    const whole = carryOut(play, before).changes.length
    for (let limit = 1; limit < whole; limit += 1) {
      const next = carryOut(play, carryOut(play, before, { limit }).state)
      expect(next.error, `cut after ${limit}`).toBeUndefined()
      expect(everyFile.filter((path) => isThere(next.state, path))).toEqual([])
    }
  })
})

test('11.24 the link of an operator is kept and told of', () => {
  expect(uninstallOf(hosts['OPERATOR-LINK']()).findings).toContainEqual(
    expect.objectContaining({ check: 'operator-link-kept', target: ROOT }),
  )
})

test('11.23 a host without a first-boot unit is uninstalled as well', () => {
  const unit = 'aks-flex-node-bootstrap.service'
  const end = uninstallOf(
    hosts.MOVED({
      units: { [unit]: { LoadState: 'not-found' } },
      paths: {
        [`/etc/systemd/system/${unit}`]: 'absent',
        [`/etc/systemd/system/multi-user.target.wants/${unit}`]: 'absent',
      },
    }),
  )
  expect(end.error).toBeUndefined()
  expect(end.changes.map(summaryOf).filter((summary) => summary.includes(unit))).toEqual([])
  expectGone(end.state)
})

test('8.2 foreign files are kept, with the directories that hold them, and named', () => {
  const foreign = [`${ROOT}/bin/tool`, `${ROOT}/lib/aks-flex-node/notes`, `${LEGACY}/lib/aks-flex-node/notes`]
  const end = uninstallOf(
    hosts.CONFLICT({ paths: Object.fromEntries(foreign.map((path) => [path, { file: 'x' }] as const)) }),
  )
  expect(end.error).toBeUndefined()
  expect(foreign.filter((path) => !isThere(end.state, path))).toEqual([])
  expect(isThere(end.state, `${ROOT}/libexec`)).toBe(false)
  const found = end.findings.find(({ check }) => check === 'foreign-files-kept')
  for (const path of foreign) expect(found?.message).toContain(path)
})

test('1.4 what installers that were cut left beside their places goes, and no file with another name', () => {
  const temporary = [
    `${LEGACY}/bin/.aks-flex-node.Ab12Cd`,
    `${LEGACY}/bin/.unbounded-agent-nspawn-lifecycle-1`,
    `${LEGACY}/lib/aks-flex-node/.agent-upgrade-77`,
    `${LEGACY}/lib/aks-flex-node/.aks-flex-node-link-3`,
  ]
  const other = `${LEGACY}/bin/.aks-flex-nodes`
  const end = uninstallOf(
    onlyFiles(Object.fromEntries([...temporary, other].map((path) => [path, { file: 'x' }] as const))),
  )
  expect(end.error).toBeUndefined()
  expect(temporary.filter((path) => isThere(end.state, path))).toEqual([])
  expect(isThere(end.state, other)).toBe(true)
})

test('a dangling link at the place of the binary goes', () => {
  const path = `${LEGACY}/bin/aks-flex-node`
  const end = uninstallOf(onlyFiles({ [path]: { link: '/gone' } }))
  expect(end.changes.map(summaryOf)).toContain(`remove ${path}`)
})

test('a directory at the place of the binary is somebody else’s', () => {
  const path = `${LEGACY}/bin/aks-flex-node`
  const end = uninstallOf(onlyFiles({ [path]: { dir: ['x'] } }))
  expect(end).toMatchObject({ changes: [] })
})

test("drover's own directory goes when nothing of use is in it", () => {
  const rolledBack = { phase: 'rolled-back', text: 'r0 ada@desk 2026 rolled-back 2026 upgrade' } as const
  const end = uninstallOf({
    ...hosts.MOVED({ self: { rollback: rolledBack } }),
    paths: { ...hosts.MOVED().paths, '/var/lib/drover/rolled-back': { file: 'x' } },
  })
  expect(end.error).toBeUndefined()
  expect(isThere(end.state, '/var/lib/drover')).toBe(false)
  const kept = uninstallOf(onlyFiles({ '/var/lib/drover/notes': { file: 'x' } }))
  expect(isThere(kept.state, '/var/lib/drover/notes')).toBe(true)
})

test('a mount in the data directory is refused', () => {
  const host = hosts.MOVED({ probes: { 'mounts-below': 'mount=/var/lib/aks-flex-node/cache\nwhole=yes\n' } })
  expect(uninstallOf(host).error).toMatch(/^precondition-unmet.*\/var\/lib\/aks-flex-node\/cache is mounted/)
})

test('what has not been reset is not uninstalled', () => {
  expect(refusal(agentUninstalled, meant, hosts.MOVED())).toMatch(/is on the host still/)
})

test.each([{}, { yes_remove_everything: false }])('unless it is meant nothing is even planned: %j', (input) => {
  expect(faultsOf(agentUninstalled as never, input)).toEqual([
    expect.stringMatching(/nobody has said that this is meant/),
  ])
})

test('a masked unit of an agent that was reset is no agent', () => {
  const binary = `${LEGACY}/bin/aks-flex-node`
  const masked = {
    ...onlyFiles({ '/etc/systemd/system/aks-flex-node-agent.service': { link: '/dev/null' }, [binary]: { file: '' } }),
    units: { 'aks-flex-node-agent.service': { LoadState: 'not-found' } },
  }
  expect(JSON.stringify(result(agentUninstalled, meant, masked))).toContain(`remove ${binary}`)
})

test('of a link in place of the state only the link goes, and what it leads to is named', () => {
  const end = uninstallOf(onlyFiles({ '/var/lib/aks-flex-node': { link: '/srv/state' } }))
  expect(end.error).toBeUndefined()
  expect(isThere(end.state, '/var/lib/aks-flex-node')).toBe(false)
  expect(end.findings).toContainEqual(
    expect.objectContaining({ check: 'link-target-left', severity: 'warning', target: '/var/lib/aks-flex-node' }),
  )
})
