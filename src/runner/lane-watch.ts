import { emit, type Run } from './run.ts'
import { createStallWatch, type StallWatch, systemClock } from './stall.ts'

/** Tells of a host's stalls as events. */
export const watchHost = (run: Run, host: string): StallWatch =>
  createStallWatch({
    afterMs: run.deadlines.stallMs,
    clock: systemClock,
    onStalled: (where, silentMs) => emit(run, { type: 'host-stalled', host, where, silentMs: Math.round(silentMs) }),
    onMoving: (where, silentMs) => emit(run, { type: 'host-moving', host, where, silentMs: Math.round(silentMs) }),
  })
