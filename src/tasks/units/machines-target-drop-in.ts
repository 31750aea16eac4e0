import type { UnitModel } from '../../facts/unit.ts'
import { agentUnit, machinesTarget } from '../agent/names.ts'
import { unitFile } from './unit-file.ts'

/**
 * Wants= adds to what the unit says, whichever unit the agent writes. No After=: a worker whose start
 * hangs would hold the agent (PR #437).
 */
export const machinesTargetDropIn: { readonly content: string; readonly model: UnitModel } = {
  content: unitFile([{ name: 'Unit', lines: [['Wants', machinesTarget]] }]),
  model: { unit: agentUnit, adds: { Wants: [machinesTarget] } },
}
