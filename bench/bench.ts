import { join } from 'node:path'
import type { Client } from './client.ts'
import type { Figure } from './figure.ts'
import type { Command } from './measured.ts'
import type { Installed } from './peers/install.ts'
import { node } from './place.ts'

/** What every row has at hand. */
export interface Bench {
  readonly client: Client
  /** The folder of the shipped form. */
  readonly shipped: string
  readonly installed: Installed
  readonly runs: number
  /** Scales the number of hosts, to try a row out; 1 in a run that counts. */
  readonly scale: number
}

export interface Row {
  readonly name: string
  /** How it is measured, for the page. */
  readonly about: string
  measure(bench: Bench): Promise<Figure[]>
}

/** drover as users start it. Its runs go where a container forgets them. */
export const droverCommand = ({ shipped }: Bench, args: readonly string[], timeoutMs = 120_000): Command => ({
  argv: [node, join(shipped, 'bin/drover.js'), ...args],
  timeoutMs,
})

export const scaled = ({ scale }: Bench, count: number): number => Math.max(1, Math.round(count * scale))
