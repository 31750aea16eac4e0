import type { SelfFacts } from './state.ts'

/** How long a run's claim on a host outlives its last sign of life, in seconds. */
export const leaseTtlS = 60

/** Whose the host is at this moment; null: nobody's. A lease from the future is a clock that was set back. */
export const holderOf = ({ lease, applying }: SelfFacts): string | null => {
  if (applying !== null) return applying
  return lease !== null && lease.ageS >= 0 && lease.ageS < leaseTtlS ? `run ${lease.run} of ${lease.owner}` : null
}
