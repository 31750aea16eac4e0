import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { probeKey } from '../../../src/facts/fact.ts'
import type { Vars } from '../../../src/inventory/host.ts'
import { activationLock } from '../../../src/tasks/agent/paths.ts'
import { shippedPlay } from '../../playbook/shipped.ts'
import type { HostLiteral } from '../host-state.ts'
import { hosts, network } from './hosts.ts'
import { runReset } from './looks.ts'
import { carryOut, hostFor, isOwnReset } from './simulated.ts'

const wg = (more = ''): HostLiteral => hosts.MOVED({ probes: { 'network-left': `${network}interface=wg0\n${more}` } })
const held = (unit: string): HostLiteral =>
  hosts.MOVED({ probes: { 'activation-lock': `lock=held\nholder=17 flock ${unit}\n` } })

test.each<[what: string, host: HostLiteral, vars: Vars, error: RegExp]>([
  ['no root rights', hosts.MOVED({ os: { uid: 1000 } }), {}, /^inspect-failed/],
  ['a systemd that does not answer', hosts.MOVED({ noSystemd: 'timeout' }), {}, /^inspect-failed/],
  ['a WireGuard interface', wg(), {}, /^interfaces-would-go.* wg0.*--allow-interface wg0.*--without-agent-reset/],
  ['one by which drover came in', wg('ssh=wg0\n'), {}, /^interfaces-would-go.*came in by wg0/],
  [
    'the way in by another interface that would go',
    hosts.MOVED({ probes: { 'network-left': `${network}interface=vxlan0\nssh=vxlan0\n` } }),
    {},
    /^interfaces-would-go.*came in by vxlan0/,
  ],
  [
    'M8 interfaces that were not listed to the end',
    hosts.MOVED({ probes: { 'network-left': 'table=unknown\n' } }),
    {},
    /^inspect-failed.*interfaces.*--without-agent-reset/,
  ],
  [
    'M8 any interface that would go, where the way in is unknown',
    hosts.MOVED({ probes: { 'network-left': `${network}interface=cbr0\n` } }),
    {},
    /^interfaces-would-go.* cbr0/,
  ],
  [
    'one of two that is not allowed',
    wg('interface=wg1\n'),
    { allow_interface: ['wg0'] },
    /^interfaces-would-go.* wg1,/,
  ],
  [
    'a mount in a machine',
    hosts.MOVED({ probes: { 'mounts-below': 'mount=/var/lib/machines/kube1/data\nwhole=yes\n' } }),
    {},
    /^precondition-unmet.*\/var\/lib\/machines\/kube1\/data is mounted/,
  ],
  [
    'mounts that nobody can list',
    hosts.MOVED({ probes: { 'mounts-below': '' } }),
    {},
    /^precondition-unmet.*list of mounts/,
  ],
  ['a lock that an installer holds', held('-'), {}, new RegExp(`^activation-locked.*${activationLock}`)],
  [
    'the container variant',
    hosts.MOVED({ units: { 'aks-flex-node-agent.service': { Requires: 'containerd.service' } } }),
    {},
    /^precondition-unmet.*container variant/,
  ],
])('%s stops a reset before anything is changed', (_, host, vars, error) => {
  expect(runReset(host, vars)).toMatchObject({ changes: [], error: expect.stringMatching(error) })
})

test.each<[what: string, host: HostLiteral, vars: Vars, ownResets: number]>([
  ['an allowed interface', wg(), { allow_interface: ['wg0'] }, 1],
  ['an interface, where the own reset is not run', wg(), { agent_reset: false }, 0],
  [
    'an interface that no name of the agent fits',
    hosts.MOVED({ probes: { 'network-left': `${network}ssh=eth0\n` } }),
    {},
    1,
  ],
  [
    'an interface of the agent that is not the way in',
    hosts.MOVED({ probes: { 'network-left': `${network}interface=geneve0\nssh=eth0\n` } }),
    {},
    1,
  ],
  [
    'what is mounted elsewhere',
    hosts.MOVED({ probes: { 'mounts-below': 'mount=/run/bpffs/kube1\nmount=/var/lib/machines/kube10\nwhole=yes\n' } }),
    {},
    1,
  ],
])('%s does not', (_, host, vars, ownResets) => {
  const end = runReset(host, vars)
  expect(end.error).toBeUndefined()
  expect(end.changes.filter(isOwnReset)).toHaveLength(ownResets)
})

test('what is left mounted of bpffs is listed', () => {
  const host = hosts.MOVED({ probes: { 'mounts-below': 'mount=/run/bpffs/kube1\nwhole=yes\n' } })
  expect(runReset(host).findings).toContainEqual(
    expect.objectContaining({
      check: 'bpffs-left',
      severity: 'ok',
      message: expect.stringContaining('/run/bpffs/kube1'),
    }),
  )
})

test('M8 a look at the interfaces that failed is no proof of none', () => {
  const play = shippedPlay('reset', {})
  const state = hostFor(play, hosts.MOVED())
  const probes = new Map(state.probes).set(probeKey('network-left', []), { code: 124, stdout: network })
  const end = carryOut(play, { ...state, probes })
  expect(end.error).toMatch(/^inspect-failed.*interfaces/)
  expect(end.changes).toEqual([])
})

test('M8 the look lists interfaces before anything that may hang, and marks its end', () => {
  const text = readFileSync(new URL('../../../src/facts/probes/network-left.sh', import.meta.url), 'utf8')
  const [, main = ''] = /^main\(\) \{\n([\s\S]*?)^\}/m.exec(text) ?? []
  expect(main.indexOf('interfaces')).toBeLessThan(main.indexOf('\n  table'))
  expect(main.trimEnd().split('\n').at(-1)).toBe("  echo 'whole=yes'")
  expect(text).toContain('timeout -k 2 10 nft')
})
