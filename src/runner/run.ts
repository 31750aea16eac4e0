import type { Host } from '../inventory/host.ts'
import type { Become } from '../transport/become/become.ts'
import type { Transport } from '../transport/connection.ts'
import type { Uploads } from '../transport/upload/uploads.ts'
import type { EventSink, RunEventBody } from './events.ts'
import type { Machines } from './machines.ts'
import type { Tasks } from './plan.ts'

/** Milliseconds; the transport has its own for the stages of a connection. */
interface RunDeadlines {
  /** One reading of all facts, commands and probes included. */
  readonly inspectMs: number
  /** Added to what the changes of a segment declare. */
  readonly applyGraceMs: number
  /** How long a host that was lost is tried for. */
  readonly reconnectMs: number
  /** Before the first attempt; twice as long before each further one. */
  readonly backoffMs: number
  /** A silence longer than this is told of. */
  readonly stallMs: number
}

/** What all lanes of a run share. Frozen once, handed down; no lane changes it. */
export interface Run {
  /** `[A-Za-z0-9._-]`: it stands in host logs and directory names. */
  readonly id: string
  /** One word: who is responsible, as the hosts' logs show it. */
  readonly operator: string
  readonly reason: string | null
  readonly mode: 'apply' | 'check'
  readonly forks: number
  /** The most that the changes of one step may take on a host, in seconds. */
  readonly stepTimeoutS?: number
  readonly tasks: Tasks
  readonly transport: Transport
  /** Absent: the run brings no files to hosts. */
  readonly uploads?: Uploads
  /** How root is had on a host; null: not at all, or not needed. */
  readonly becomeOf: (host: Host) => Become | null
  readonly deadlines: RunDeadlines
  /** Which machine each host has turned out to be. */
  readonly machines: Machines
  readonly sink: EventSink
  /** Told of every fault of drover's own, whole: an event carries only what a person needs. */
  readonly onFault?: (host: string, thrown: unknown) => void
  /** First Ctrl-C: no host is started any more, running segments end. */
  readonly softStop: AbortSignal
  /** Second Ctrl-C: what runs on hosts is stopped. */
  readonly hardStop: AbortSignal
}

/** A sink does not throw; should one do so all the same, no host pays for it. */
export const emit = (run: Run, body: RunEventBody): void => {
  try {
    run.sink({ at: new Date().toISOString(), ...body })
  } catch {
    // Nobody is left to tell.
  }
}
