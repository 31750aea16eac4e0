// The stand-in agent's reset: what the stories about resetting a host rely on.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { belongings } from '../support/hooks.ts'
import { LEGACY, ROOT, rootState } from '../support/host-root.ts'
import { type AgentBuild, buildAgent } from './agent/build.ts'
import type { LabHost } from './host.ts'
import { type Lab, openLab } from './lab.ts'

let lab: Lab
let moved: LabHost
let linked: LabHost
let acl: LabHost

const extras = { hooks: true, localdns: true, firstBoot: true } as const

beforeAll(async () => {
  lab = await openLab('lab-reset')
  ;[moved, linked, acl] = await Promise.all([
    lab.boot({ name: 'moved', image: 'ubuntu-like', agent: 'new', layout: 'moved', worker: 'real', ...extras }),
    lab.boot({ name: 'linked', image: 'rhel9-like', agent: 'new', layout: 'linked', worker: 'sleep', ...extras }),
    lab.boot({ name: 'acl', image: 'acl-like', agent: 'new', worker: 'sleep', ...extras }),
  ])
})

afterAll(() => lab?.close())

/** Of a host that has everything: the files below `root`, and the worker and what starts it. */
const everything = (root: string): string[] => [
  '/etc/aks-flex-node',
  '/etc/aks-flex-node/first-boot',
  '/var/log/aks-flex-node',
  '/var/lib/machines/kube1',
  '/etc/systemd/nspawn/kube1.nspawn',
  '/etc/systemd/system/aks-flex-node-agent.service',
  '/etc/systemd/system/aks-flex-node-agent-recovery.service',
  '/etc/systemd/system/aks-flex-node-bootstrap.service',
  '/etc/systemd/system/systemd-nspawn@kube1.service.d',
  '/etc/systemd/system/unbounded-agent-regenerate-config@kube1.service',
  '/etc/systemd/system/unbounded-localdns-network.service',
  '/etc/systemd/system/machines.target.wants/systemd-nspawn@kube1.service',
  '/etc/systemd/system/multi-user.target.wants/aks-flex-node-agent.service',
  '/etc/systemd/system/multi-user.target.wants/aks-flex-node-bootstrap.service',
  '/etc/systemd/system/multi-user.target.wants/unbounded-localdns-network.service',
  '/run/bpffs/kube1',
  `${root}/bin/unbounded-agent-nspawn-lifecycle`,
  `${root}/lib/aks-flex-node/aks-flex-node-recovery.sh`,
  `${root}/libexec/unbounded-localdns-network`,
  'table ip unbounded_localdns',
  'interface localdns',
  'active aks-flex-node-agent.service',
  'active aks-flex-node-bootstrap.service',
  'active systemd-nspawn@kube1.service',
]

/** Run by the binary of another build, which lies elsewhere. */
const resetBy = async (host: LabHost, build: AgentBuild) => {
  await host.put('/srv/resets', readFileSync(await buildAgent(build)), '0755')
  return host.sh('/srv/resets reset')
}

test('what it must make go is there on a host that has everything', async () => {
  expect((await belongings(moved)).sort()).toEqual(everything(ROOT).sort())
  expect((await belongings(linked)).sort()).toEqual(everything(LEGACY).sort())
  expect((await belongings(acl)).sort()).toEqual(everything(ROOT).sort())
})

describe('a reset that does not do all of it', () => {
  test('fails half way: the units are gone, all else is there', async () => {
    expect(await resetBy(acl, { version: 'v0.3.1', reset: 'fails' })).toMatchObject({ code: 1 })
    const left = await belongings(acl)
    expect(left).not.toContain('/etc/systemd/system/aks-flex-node-agent.service')
    expect(left).not.toContain('active aks-flex-node-agent.service')
    expect(left).toEqual(expect.arrayContaining(['/etc/aks-flex-node', 'active systemd-nspawn@kube1.service']))
  })

  test('O-4 forgets the host root, and says that all is well', async () => {
    await acl.put(`${ROOT}/lib/aks-flex-node/aks-flex-node-recovery.sh`, '') // the reset before had removed it
    expect(await resetBy(acl, { version: 'v0.3.1', reset: 'forgets-roots' })).toMatchObject({ code: 0 })
    expect(await belongings(acl)).toEqual([
      `${ROOT}/bin/unbounded-agent-nspawn-lifecycle`,
      `${ROOT}/lib/aks-flex-node/aks-flex-node-recovery.sh`,
      `${ROOT}/libexec/unbounded-localdns-network`,
    ])
  })
})

test('11.48, 11.49 it takes everything but the layout, on read-only /usr as well, and again without a complaint', async () => {
  await moved.must('for i in wg0 geneve0 keep0; do ip link add $i type bridge; done')
  for (const [host, root] of [
    [moved, ROOT],
    [linked, LEGACY],
    [acl, ROOT],
  ] as const) {
    const binary = `${root}/bin/aks-flex-node`
    expect(await host.sh('"$1" reset', [binary]), host.name).toMatchObject({ code: 0 })
    expect(await belongings(host), host.name).toEqual([])
    expect(await host.sh('"$1" reset', [binary]), host.name).toMatchObject({ code: 0, stdout: '', stderr: '' })
  }
  expect(await moved.must('cd /sys/class/net && ls -d wg0 geneve0 keep0 2>/dev/null || :')).toBe('keep0')
  const kept = [
    'bin/aks-flex-node',
    ...['blue', 'current', 'last-good'].map((s) => `lib/aks-flex-node/aks-flex-node-${s}`),
  ]
  expect(await rootState(moved)).toMatchObject({ root: 'directory', underRoot: kept, underLegacy: [] })
  expect(await rootState(linked)).toMatchObject({ root: `-> ${LEGACY}`, underLegacy: kept })
})

test('a link that leads to no agent any more goes with the next command', async () => {
  await linked.must('rm -r /usr/local/lib/aks-flex-node')
  expect(await resetBy(linked, { version: 'v0.3.0' })).toMatchObject({ code: 0 })
  expect((await rootState(linked)).root).toBe(`-> ${LEGACY}`)
  await linked.must('/srv/resets recover-agent-upgrade')
  expect((await rootState(linked)).root).toBe('absent')
})
