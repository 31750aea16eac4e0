import { z } from 'zod'

const words = z
  .array(
    z
      .string()
      .refine(
        (word) => word !== '' && !word.includes('\0'),
        'A word of the command is empty or holds a NUL.\nLeave it out.',
      ),
  )
  .min(1, 'The command is empty.\nWrite a list: the program, then its arguments.')

const seconds = (fallback: number, least = 0) => z.number().min(least).max(3600).default(fallback)

const hasUser = (url: string): boolean => {
  const { username, password } = URL.canParse(url) ? new URL(url) : { username: '', password: '' }
  return username !== '' || password !== ''
}

/** Parameters of every task that switches the agent and waits for it. */
export const limitsShape = {
  confirm_within_s: seconds(300, 5).describe(
    'Seconds after which the host undoes all of it by itself, unless drover has confirmed it by then',
  ),
  within_s: seconds(60).describe('Seconds the host waits for the agent to be up'),
  stable_s: seconds(45).describe(
    'Seconds the agent must then stay up without a break; above the 30 s after which systemd restarts one that fails',
  ),
  health_command: words
    .nullable()
    .default(null)
    .describe('A command that the host runs once the agent stays up, and that must end with 0 for it to be kept'),
  health_url: z
    .url({ protocol: /^https?$/, error: 'This is no URL.\nWrite http://... or https://... as the host reaches it.' })
    .refine(
      (url) => !hasUser(url),
      'There is a user or a password in this URL, and plans and reports show it.\nMake it a health_command that reads them from a file on the host.',
    )
    .nullable()
    .default(null)
    .describe('An address that must answer the host with a status below 400 for the agent to be kept'),
  health_within_s: seconds(30).describe('Seconds the host waits for each of these two'),
  allow_start: z
    .array(z.string())
    .default([])
    .describe(
      'Units of machines.target.wants, or machine names, that may start along where the restart starts the target',
    ),
} as const

export interface Limits {
  readonly confirm_within_s: number
  readonly within_s: number
  readonly stable_s: number
  readonly health_command: readonly string[] | null
  readonly health_url: string | null
  readonly health_within_s: number
  readonly allow_start: readonly string[]
}

/** How long one question of the user's own may take: never longer than its answer is waited for. */
export const healthTimeoutS = ({ health_within_s }: Pick<Limits, 'health_within_s'>): number =>
  Math.min(10, Math.max(1, Math.ceil(health_within_s)))
/**
 * For the restart, a last look at each worker, and the new connection over which all of it is looked at again. It is a
 * minimum: how long a unit takes to stop is not known before a host is reached.
 */
const marginS = 7

/** What may be waited for between the switch and its confirmation. */
const waitedS = (limits: Limits): number => {
  const own = [limits.health_command, limits.health_url].filter((check) => check !== null).length
  return limits.within_s + limits.stable_s + own * (limits.health_within_s + healthTimeoutS(limits)) + marginS
}

/** A rollback that fires while the host still waits would undo what is just proving itself. */
export const enoughTime = (limits: Limits, context: z.RefinementCtx): void => {
  const short = Math.ceil(waitedS(limits) - limits.confirm_within_s)
  if (short <= 0) return
  context.addIssue({
    code: 'custom',
    path: ['confirm_within_s'],
    message: `The host would undo the switch while it is still waited for: this is ${short} s too short.\nMake it at least ${Math.ceil(waitedS(limits))}, or wait less (within_s, stable_s, health_within_s).`,
  })
}
