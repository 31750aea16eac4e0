import type { UnitModel } from '../../facts/unit.ts'
import { agentUnit, containerdUnit, machinesTarget, recoveryUnit } from '../agent/names.ts'
import { configFile, type HostRoot, layoutEntry } from '../agent/paths.ts'
import type { Variant } from '../agent/service.ts'
import { type Assignment, type UnitSection, unitFile } from './unit-file.ts'

export interface AgentUnitOptions {
  readonly hostRoot: HostRoot
  /** The container variant's full text is in no source: this one is for fixtures, never for a real host (W5). */
  readonly variant: Variant
  /** Azure Arc: wait for its identity service, too. */
  readonly arc: boolean
}

/** domain.md 3.1 and 3.2. The target is wanted and never ordered before the agent (PR #437). */
export const agentUnitFile = (options: AgentUnitOptions): { readonly content: string; readonly model: UnitModel } => {
  const container = options.variant === 'container'
  const ordered = ['network-online.target', 'systemd-udev-settle.service', ...(options.arc ? ['himdsd.service'] : [])]
  const after = [...ordered, ...(container ? [containerdUnit] : [])].join(' ')
  const wants = [...ordered, machinesTarget].join(' ')
  const execStart = `${layoutEntry(options.hostRoot, 'current')} agent --config ${configFile}`
  const sections: readonly UnitSection[] = [
    {
      name: 'Unit',
      lines: [
        ['Description', 'AKS Flex Node Agent'],
        ['After', after],
        ['Wants', wants],
        ...(container ? ([['Requires', containerdUnit]] satisfies Assignment[]) : []),
        ['OnFailure', recoveryUnit],
        ['StartLimitIntervalSec', '300'],
        ['StartLimitBurst', '5'],
      ],
    },
    {
      name: 'Service',
      lines: [['Type', 'simple'], ['RemainAfterExit', 'no'], ['ExecStart', execStart], ...serviceTail],
    },
    { name: 'Install', lines: [['WantedBy', 'multi-user.target']] },
  ]
  return {
    content: unitFile(sections),
    model: {
      unit: agentUnit,
      adds: {
        Wants: wants.split(' '),
        After: after.split(' '),
        ...(container && { Requires: [containerdUnit] }),
      },
    },
  }
}

const serviceTail: readonly Assignment[] = [
  ['TimeoutStartSec', '300'],
  ['TimeoutStopSec', '60'],
  ['Restart', 'on-failure'],
  ['RestartSec', '30'],
  ['StandardOutput', 'journal'],
  ['StandardError', 'journal'],
]
