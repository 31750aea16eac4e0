import type { Gauge } from './gauge.ts'
import { leastTroubled } from './gauge.ts'

/** A connection that is under way, until it is logged in or has failed. */
export interface Start {
  readonly keys: readonly string[]
  readonly rounds: readonly number[]
  readonly at: number
}

/**
 * From OpenSSH 9.8 on "not allowed at this time" is said for too many logins under way, and for a penalty. The first
 * passes when others of ours have passed, so only who is turned away alone is shut out.
 */
export const isCrowded = ([endpoint, ...wider]: readonly Gauge[], now: number): boolean => {
  if (endpoint !== undefined && endpoint.limit.inFlight > 1) return true
  return wider.some((gauge) => gauge.isTroubled(now) && (gauge.limit.inFlight > 1 || gauge.letsIn(now)))
}

/** So many at once may be too slow even where nobody has got in yet. */
const crowd = 8

/**
 * Where somebody has got in and several are under way, it is they who make each other slow. A place that never let
 * anybody in is dead, unless it greets, and who is slow alone is slow by itself. All of this machine is no such place.
 */
export const slowed = (
  { rounds }: Start,
  gauges: readonly Gauge[],
  { hasGreeted, now }: { hasGreeted: boolean; now: number },
): void => {
  const isSlow = ({ hasLife, limit: { inFlight } }: Gauge, index: number): boolean =>
    hasLife ? inFlight >= (index === 0 ? 2 : leastTroubled) : hasGreeted && inFlight >= crowd
  const index = gauges.slice(0, -1).findIndex(isSlow)
  gauges[index]?.limit.slowed(rounds[index] ?? 0, now)
}

/** Of the places around it, those where it was alone have shown that they are not crowded. */
export const shutOut = (start: Start, [endpoint, ...wider]: readonly Gauge[], now: number, reason: unknown): void => {
  // Where others around it are let in, it may be one of them that took its place: it waits, but there is hope.
  const isFinal = wider[0] === undefined || (wider[0].limit.inFlight === 1 && !wider[0].letsIn(now))
  endpoint?.shutOut(start.at, now, { reason, isFinal })
  for (const gauge of wider) {
    gauge.note(start.keys[0] ?? '', now)
    if (gauge.limit.inFlight === 1) gauge.limit.succeeded(now)
  }
}

/** The narrowest place that explains the drop takes the blame, so that one crowded corner does not slow all. */
export const dropped = (
  { keys: [own = ''], rounds }: Start,
  [endpoint, ...wider]: readonly Gauge[],
  now: number,
): void => {
  const isOwnDoing = endpoint !== undefined && endpoint.limit.inFlight > 1
  endpoint?.dropped(rounds[0] ?? 0, now)
  if (isOwnDoing) return
  for (const gauge of wider) gauge.note(own, now)
  const index = wider.findIndex((gauge) => gauge.isTroubled(now))
  const blamed = wider[index]
  blamed?.dropped(rounds[index + 1] ?? 0, now)
  if (blamed === undefined) return
  for (const wide of wider.slice(index + 1)) for (const troubled of blamed.troubled) wide.forgive(troubled)
}
