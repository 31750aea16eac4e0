import { LEGACY, layoutEntry, lifecycleHelper, type ROOT } from '../../../src/tasks/agent/paths.ts'
import { agentUnitFile } from '../../../src/tasks/units/agent-unit.ts'
import { recoveryScriptFile, recoveryUnitFile } from '../../../src/tasks/units/recovery.ts'
import { execStart } from '../deployed.ts'
import type { HostLiteral, PathLiteral } from '../host-state.ts'

/** What the binary of the release under test holds. */
export const content = 'new'
const binary = { file: content, mode: 0o755 } as const

export const fine = JSON.stringify({
  status: 'ok',
  checks: [{ name: 'is-privileged-user', target: 'host user', severity: 'ok', message: 'root', ignored: false }],
  summary: { ok: 1, warnings: 0, errors: 0 },
})

export const layout = (root: typeof ROOT | typeof LEGACY = LEGACY): Record<string, PathLiteral> => ({
  [layoutEntry(root, 'blue')]: binary,
  [layoutEntry(root, 'current')]: { link: layoutEntry(root, 'blue') },
  [layoutEntry(root, 'last-good')]: { link: layoutEntry(root, 'blue') },
  [`${root}/bin/aks-flex-node`]: { link: layoutEntry(root, 'current') },
})

/** The binary lies ready in the blue slot, and its own preflight is content. */
export const staged = (changes: HostLiteral = {}, root: typeof ROOT | typeof LEGACY = LEGACY): HostLiteral => ({
  ...changes,
  paths: { ...layout(root), ...changes.paths },
  probes: { 'agent-preflight': fine, ...changes.probes },
})

/** Units and all that they name are there, and nothing was ever started. */
export const installed = (changes: HostLiteral = {}, root: typeof ROOT | typeof LEGACY = LEGACY): HostLiteral =>
  staged(
    {
      ...changes,
      units: {
        'aks-flex-node-agent.service': {
          UnitFileState: 'disabled',
          ExecStart: execStart(layoutEntry(root, 'current')),
          Wants: 'network-online.target machines.target',
          StartLimitBurst: '5',
          StartLimitIntervalUSec: '5min',
          starts: 0,
        },
        'aks-flex-node-agent-recovery.service': {},
        'machines.target': { UnitFileState: 'disabled' },
        ...changes.units,
      },
      paths: {
        [`${root}/lib/aks-flex-node/aks-flex-node-recovery.sh`]: { file: recoveryScriptFile(root), mode: 0o750 },
        '/etc/systemd/system/aks-flex-node-agent-recovery.service': { file: recoveryUnitFile(root) },
        [lifecycleHelper(root)]: binary,
        '/etc/systemd/system/aks-flex-node-agent.service': {
          file: agentUnitFile({ hostRoot: root, variant: 'host', arc: false }).content,
        },
        ...changes.paths,
      },
    },
    root,
  )

/** The same with the agent up and enabled. */
export const up = (changes: HostLiteral = {}, root: typeof ROOT | typeof LEGACY = LEGACY): HostLiteral => {
  const units = installed({}, root).units
  return installed(
    {
      ...changes,
      units: {
        'aks-flex-node-agent.service': {
          ...units?.['aks-flex-node-agent.service'],
          ActiveState: 'active',
          SubState: 'running',
          UnitFileState: 'enabled',
          MainPID: '42',
          exe: layoutEntry(root, 'blue'),
        },
        'machines.target': { ActiveState: 'active', UnitFileState: 'disabled' },
        ...changes.units,
      },
      paths: {
        '/etc/systemd/system/multi-user.target.wants/aks-flex-node-agent.service': {
          link: '/etc/systemd/system/aks-flex-node-agent.service',
        },
        ...changes.paths,
      },
    },
    root,
  )
}
