import type { Change } from '../../changes/change.ts'
import { seconds } from '../../facts/time-span.ts'
import type { HostView } from '../../facts/view.ts'

/**
 * What a start needs where the unit has hit its limit: systemd refuses it although a person asks. Where
 * `reset-failed` is denied (#385) only time helps.
 */
export const afterStartLimit = (view: HostView, name: string): Change[] => {
  const unit = view.unit(name)
  if (unit.get('Result') !== 'start-limit-hit') return []
  if (view.os.family !== 'acl') return [{ kind: 'systemctl', verb: 'reset-failed', unit: name }]
  const burst = Number(unit.get('StartLimitBurst'))
  const windowS = seconds(unit.get('StartLimitIntervalUSec'))
  return [untilStartable(name, burst, windowS, `${name} has reached its start limit of ${burst} in ${windowS} s.`)]
}

/**
 * What a planned start needs before it, so that it never is the one that trips the unit's start limit. The
 * count is an upper bound taken from the journal. Below systemd 254 a reload clears the counter; elsewhere
 * `reset-failed` does, which Azure Container Linux denies (#385): there the plan waits for the window.
 */
export const startRoom = (view: HostView, name: string, hasReload: boolean): Change[] => {
  const unit = view.unit(name)
  const burst = Number(unit.get('StartLimitBurst'))
  const windowS = seconds(unit.get('StartLimitIntervalUSec'))
  if (burst === 0 || windowS === 0 || unit.starts + 1 < burst) return []
  if (hasReload && view.os.systemdVersion > 0 && view.os.systemdVersion < 254) return []
  if (view.os.family !== 'acl') return [{ kind: 'systemctl', verb: 'reset-failed', unit: name }]
  const why = !Number.isFinite(unit.starts)
    ? `How often ${name} was started cannot be read from the journal, so nobody can say that there is room for one more.`
    : `${name} was started ${unit.starts} times in its window of ${windowS} s, and one more start would reach its limit of ${burst}.`
  return [untilStartable(name, burst - 1, windowS, why)]
}

const untilStartable = (unit: string, below: number, windowS: number, message: string): Change => ({
  kind: 'await',
  // A window without an end is never waited out: one look, over a day.
  condition: { unit, is: 'startable', below, windowS: Number.isFinite(windowS) ? windowS : 86_400 },
  stableMs: 0,
  withinMs: Number.isFinite(windowS) ? (windowS + 10) * 1000 : 0,
  failure: {
    code: 'start-limit-near',
    message,
    remedy: `Something restarts it: look at journalctl -u ${unit}. Run again when it has been quiet for ${windowS} s.`,
  },
})
