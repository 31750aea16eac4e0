import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { upgradeSignalFile } from './paths.ts'

/** An upgrade whose verdict is pending (domain.md 7.3). Its other fields may quote signed addresses and are not kept. */
export interface UpgradeSignal {
  /** By the host's own clock. */
  readonly ageS: number
  readonly operation: string | null
  readonly recoveryRequired: boolean
}

export const upgradeSignalFacts = (): Fact[] => [
  { kind: 'path', path: upgradeSignalFile, content: 65_536, secret: true },
]

/** Needs root: the file is 0600. A damaged one still counts: its being there is the signal. */
export const readUpgradeSignal = (view: HostView): UpgradeSignal | null => {
  const file = view.target(upgradeSignalFile)
  if (file.type === 'absent') return null
  const written = file.type === 'file' ? file.modifiedS : undefined
  const fields = parsed(view.text(upgradeSignalFile) ?? '')
  return {
    ageS: written === undefined ? 0 : Math.max(0, Math.floor(view.os.clockS - written)),
    operation: typeof fields.operationName === 'string' && fields.operationName !== '' ? fields.operationName : null,
    recoveryRequired: fields.recoveryRequired === true,
  }
}

const parsed = (text: string): { operationName?: unknown; recoveryRequired?: unknown } => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
