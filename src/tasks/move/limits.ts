import { z } from 'zod'

const seconds = (fallback: number, least = 0) => z.number().min(least).max(3600).default(fallback)

export const stopAtShape = {
  stop_at: z
    .enum(['link', 'moved'])
    .default('moved')
    .describe('link: only the link to the old root is made, from which a host can go back; nothing is moved'),
} as const

/** Parameters of the tasks that restart an agent on its way. */
export const limitsShape = {
  within_s: seconds(60).describe('Seconds the host waits for the agent to be up after a restart'),
  stable_s: seconds(45).describe(
    'Seconds the agent must then stay up without a break; above the 30 s after which systemd restarts one that fails',
  ),
  allow_start: z
    .array(z.string())
    .default([])
    .describe(
      'Units of machines.target.wants, or machine names, that may start along where the restart starts the target',
    ),
} as const

export interface Limits {
  readonly within_s: number
  readonly stable_s: number
  readonly allow_start: readonly string[]
}
