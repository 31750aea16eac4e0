import { errorCodes } from '../errors.ts'
import type {
  ChangeReport,
  ErrorReport,
  FindingReport,
  Outcome,
  PlannedStep,
  RunEvent,
  StepResult,
} from '../runner/events.ts'
import type { Severity } from '../tasks/task.ts'

type FieldOf<T> = T extends unknown ? keyof T : never
type EventField = FieldOf<RunEvent> | keyof ErrorReport | keyof ChangeReport | keyof PlannedStep | keyof FindingReport
type Word =
  | RunEvent['type']
  | Outcome
  | StepResult
  | Severity
  | 'apply'
  | 'check'
  | 'inspect'
  | 'verify'
  | 'reboot'
  | 'upload'
  | 'confirm'
  | 'rollback'
  | 'whole'
  | 'resumed'
  | 'delta'

/** Keeps a list complete: it compiles only if every member of the union is in it. */
const listed =
  <Union extends string>() =>
  <const List extends readonly Union[]>(list: [Union] extends [List[number]] ? List : never): ReadonlySet<string> =>
    new Set<string>(list)

// Without these a password that happens to be `changed` would turn events into ones that no sink knows.
const fields = listed<EventField>()([
  ...(['at', 'type', 'mode', 'verb', 'result', 'outcome', 'severity', 'code'] as const),
  ...(['run', 'playbook', 'playbookSha256', 'hosts', 'forks', 'operator', 'reason', 'version', 'host'] as const),
  ...(['message', 'ms', 'server', 'segment', 'steps', 'step', 'task', 'changes', 'summary', 'diff', 'error'] as const),
  ...([
    'finding',
    'knownAfter',
    'remedy',
    'detail',
    'check',
    'target',
    'ignored',
    'exitCode',
    'interrupted',
    'waitMs',
    'attempt',
    'retries',
    'why',
    'where',
    'silentMs',
    'machineId',
    'bootId',
    'pid1Start',
    'detailedExitCode',
    'path',
    'bytes',
    'sent',
    'how',
    'what',
    'firesAt',
  ] as const),
])

const words = listed<Word>()([
  ...(['run-started', 'notice', 'host-started', 'host-connected', 'exec', 'host-planned', 'change-started'] as const),
  ...(['host-reconnecting', 'host-reconnected', 'host-stalled', 'host-moving', 'host-recognised'] as const),
  ...(['change-done', 'change-failed', 'finding', 'step-ended', 'host-ended', 'run-ended'] as const),
  ...(['unchanged', 'changed', 'would-change', 'failed', 'blocked', 'unreachable', 'rolled-back', 'skipped'] as const),
  ...(['cancelled', 'ok', 'unknown', 'warning', 'error', 'apply', 'check', 'inspect', 'verify', 'reboot'] as const),
  ...(['uploaded', 'rollback-armed', 'rollback-disarmed', 'upload', 'confirm', 'rollback'] as const),
  ...(['whole', 'resumed', 'delta'] as const),
])

const wordFields = new Set(['type', 'mode', 'verb', 'result', 'outcome', 'severity', 'code', 'how'])

/** Whether a key is one of the events' own. */
export const isEventField = (key: string): boolean => fields.has(key)

/** Whether a value is drover's own word, or a time, in a field that holds nothing else. */
export const isEventWord = (key: string | undefined, value: string): boolean => {
  if (key === 'at') return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)
  return key !== undefined && wordFields.has(key) && (words.has(value) || Object.hasOwn(errorCodes, value))
}
