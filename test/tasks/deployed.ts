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
  commands: [
    [
      [`${LEGACY}/lib/aks-flex-node/aks-flex-node-current`, 'version'],
      { stdout: 'AKS Flex Node Agent\nVersion: v0.2.0\nGit Commit: x\nBuild Time: y\n' },
    ],
    ...(changes.commands ?? []),
  ],
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
