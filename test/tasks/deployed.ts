import { createHash } from 'node:crypto'
import type { Host } from '../../src/inventory/host.ts'
import { LEGACY, ROOT } from '../../src/tasks/agent/paths.ts'
import { fakeHost } from '../transport/fake-host.ts'
import type { HostLiteral, PathLiteral, UnitLiteral } from './host-state.ts'

/** Literals of hosts as tests like to begin with. */

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

export const daemonState = (activeMachine: string): Record<string, PathLiteral> => {
  const text = JSON.stringify({ activeMachine, appliedSettingsVersion: '1' })
  return {
    '/etc/aks-flex-node/daemon-state.json': { file: text, mode: 0o600 },
    '/etc/aks-flex-node/daemon-state.json.sha256': { file: digest(text), mode: 0o600 },
  }
}

const running: UnitLiteral = { ActiveState: 'active', SubState: 'running', UnitFileState: 'enabled', MainPID: '42' }
const enabledWorker = {
  '/etc/systemd/system/machines.target.wants/systemd-nspawn@kube1.service': {
    link: '/usr/lib/systemd/system/systemd-nspawn@.service',
  },
} as const
export const enabledTarget = {
  '/etc/systemd/system/multi-user.target.wants/machines.target': { link: '/usr/lib/systemd/system/machines.target' },
} as const

/** An old unit's host on which all runs and nothing would survive a reboot: RHEL's preset. */
export const runningHost = (changes: HostLiteral = {}): HostLiteral => ({
  ...changes,
  units: {
    'aks-flex-node-agent.service': {
      ...running,
      exe: `${LEGACY}/lib/aks-flex-node/aks-flex-node-blue`,
      Wants: 'network-online.target',
    },
    'machines.target': { ActiveState: 'active', SubState: 'active', UnitFileState: 'disabled' },
    'systemd-nspawn@kube1.service': running,
    ...changes.units,
  },
  paths: {
    '/etc/systemd/system/aks-flex-node-agent.service': { file: '[Unit]\n' },
    [`${LEGACY}/lib/aks-flex-node/aks-flex-node-current`]: { link: `${LEGACY}/lib/aks-flex-node/aks-flex-node-blue` },
    [`${LEGACY}/lib/aks-flex-node/aks-flex-node-blue`]: { file: 'ELF' },
    ...enabledWorker,
    ...daemonState('kube1'),
    ...changes.paths,
  },
  versions: { [`${LEGACY}/lib/aks-flex-node/aks-flex-node-current`]: 'v0.2.0', ...changes.versions },
})

/** Bug #436 after a reboot: the target and the enabled worker are dead, the agent runs. */
export const stuckHost = (changes: HostLiteral = {}): HostLiteral =>
  runningHost({
    ...changes,
    units: {
      'machines.target': { UnitFileState: 'disabled' },
      'systemd-nspawn@kube1.service': { UnitFileState: 'enabled' },
      ...changes.units,
    },
  })

export const movedPaths: Record<string, PathLiteral> = {
  [`${LEGACY}/lib/aks-flex-node/aks-flex-node-current`]: 'absent',
  [`${LEGACY}/lib/aks-flex-node/aks-flex-node-blue`]: 'absent',
  [`${ROOT}/lib/aks-flex-node/aks-flex-node-current`]: { link: `${ROOT}/lib/aks-flex-node/aks-flex-node-blue` },
  [`${ROOT}/lib/aks-flex-node/aks-flex-node-blue`]: { file: 'ELF' },
}

export const aHost = (changes: Partial<Host> = {}): Host =>
  fakeHost({ name: 'node-1', address: '192.0.2.7', ...changes })

/** Where an agent's files can lie when nothing is on its way (domain.md 6.1). */
export type SettledState = 'LEGACY' | 'LINKED' | 'MOVED' | 'LEGACY-PLAIN'
export const settledStates: readonly SettledState[] = ['LEGACY', 'LINKED', 'MOVED', 'LEGACY-PLAIN']

export const execStart = (path: string): string => `{ path=${path} ; argv[]=${path} agent ; ignore_errors=no ; pid=42 }`

/** A host on which all is as it should be: blue runs, green lies beside it, and both links are on blue. */
export const laidOut = (state: SettledState, changes: HostLiteral = {}): HostLiteral => {
  const root = state === 'MOVED' ? ROOT : LEGACY
  const entry = (name: string): string => `${root}/lib/aks-flex-node/aks-flex-node-${name}`
  const isPlain = state === 'LEGACY-PLAIN'
  const starts = isPlain ? `${LEGACY}/bin/aks-flex-node` : entry('current')
  const binary = (file: string) => ({ file, mode: 0o755 })
  return {
    ...changes,
    units: {
      'aks-flex-node-agent.service': {
        ...running,
        exe: isPlain ? starts : entry('blue'),
        ExecStart: execStart(starts),
        Wants: isPlain ? 'network-online.target' : 'network-online.target machines.target',
        StartLimitBurst: '5',
        StartLimitIntervalUSec: '5min',
        starts: 1,
      },
      'aks-flex-node-agent-recovery.service': {},
      'machines.target': { ActiveState: 'active', SubState: 'active', UnitFileState: 'disabled' },
      'systemd-nspawn@kube1.service': { ...running, MainPID: '77' },
      'systemd-nspawn@kube2.service': {},
      ...changes.units,
    },
    paths: {
      '/etc/systemd/system/aks-flex-node-agent.service': { file: `[Service]\nExecStart=${starts} agent\n` },
      ...(isPlain
        ? { [starts]: binary('old') }
        : {
            '/etc/systemd/system/aks-flex-node-agent-recovery.service': { file: `ExecStart=${entry('recovery.sh')}\n` },
            [entry('recovery.sh')]: { file: '#!/bin/sh\n', mode: 0o750 },
            [entry('blue')]: binary('old'),
            [entry('green')]: binary('older'),
            [entry('current')]: { link: entry('blue') },
            [entry('last-good')]: { link: entry('blue') },
            [`${root}/bin/aks-flex-node`]: { link: entry('current') },
          }),
      ...(state === 'LINKED' && { [ROOT]: { link: LEGACY } }),
      '/etc/aks-flex-node/config.json': { file: config, mode: 0o600 },
      '/var/lib/machines/kube1/usr/local/bin/aks-flex-node': binary('old'),
      ...enabledWorker,
      ...daemonState('kube1'),
      ...changes.paths,
    },
  }
}

/** Such a host on which `current` runs that slot, and last-good leads to the other or the same. Green holds `new`. */
export const linksOn = (
  state: Exclude<SettledState, 'LEGACY-PLAIN'>,
  current: 'blue' | 'green',
  lastGood: 'blue' | 'green',
  changes: HostLiteral = {},
): HostLiteral => {
  const entry = (name: string): string => `${state === 'MOVED' ? ROOT : LEGACY}/lib/aks-flex-node/aks-flex-node-${name}`
  const agent = 'aks-flex-node-agent.service'
  return laidOut(state, {
    ...changes,
    units: { [agent]: { ...laidOut(state).units?.[agent], exe: entry(current) }, ...changes.units },
    paths: {
      [entry('green')]: { file: 'new', mode: 0o755 },
      [entry('current')]: { link: entry(current) },
      [entry('last-good')]: { link: entry(lastGood) },
      '/var/lib/machines/kube1/usr/local/bin/aks-flex-node': {
        file: current === 'blue' ? 'old' : 'new',
        mode: 0o755,
      },
      ...changes.paths,
    },
    versions: { [entry('last-good')]: 'v0.3.0', ...changes.versions },
  })
}

const config = JSON.stringify({
  azure: {
    targetCluster: {
      resourceId:
        '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c',
    },
    managedIdentity: {},
  },
  agent: { logLevel: 'info' },
})
