import { z } from 'zod'
import type { ErrorDetails } from '../../errors.ts'
import type { CommandResult } from '../../facts/state.ts'
import { keyValues } from '../agent/probe-answer.ts'
import type { Finding } from '../task.ts'

/** The report of domain.md 2.3. What a newer agent adds to it is passed over. */
const report = z.object({
  checks: z.array(
    z.object({
      name: z.string(),
      target: z.string().default(''),
      severity: z.enum(['ok', 'warning', 'error']),
      message: z.string().default(''),
    }),
  ),
})

/** What the agent's own preflight found; an error where it gave no report, which is no good one (rule M3). */
export const readReport = ({ code, stdout }: CommandResult): readonly Finding[] | ErrorDetails => {
  if (code === 126) return notAsked(keyValues(stdout))
  const parsed = report.safeParse(json(stdout))
  if (!parsed.success) return couldNotRun(code, stdout.trim() === '')
  return parsed.data.checks.map(({ name, target, severity, message }) => ({
    check: name,
    target: target === '' ? name : target,
    severity,
    message: `the agent's own preflight: ${message}`,
    ignored: false,
    ...(severity !== 'ok' && {
      remedy: 'Put it right on the host, or let it pass with --ignore-preflight-errors.',
    }),
  }))
}

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The probe looks first whether the binary is root's, and all above it (exec-of-root.sh). */
const notAsked = (answer: ReadonlyMap<string, string>): ErrorDetails => {
  const foreign = answer.get('not-roots')
  const path = foreign ?? answer.get('writable')
  return {
    code: 'preflight-could-not-run',
    message: `The agent's own preflight was not run: ${path === undefined ? 'it cannot be run' : `${path} ${foreign === undefined ? 'can be written by others than root' : 'is not root’s'}, so anybody could have put the binary there`}. No unit was written.`,
    remedy:
      path === undefined
        ? 'Look at the binary by hand: is it executable, and of this architecture?'
        : `Look at who made it; then ${foreign === undefined ? 'chmod go-w' : 'chown root:root'} ${path}, and run again.`,
  }
}

const overdue = [124, 137]

const couldNotRun = (code: number, isSilent: boolean): ErrorDetails => {
  const how = overdue.includes(code)
    ? 'did not end in time'
    : `ended with ${code} and ${isSilent ? 'no report' : 'something that is no report'}`
  return {
    code: 'preflight-could-not-run',
    message: `The agent's own preflight ${how}, so it cannot be said whether the agent could run here. No unit was written.`,
    remedy:
      'Run it by hand on the host to see why: aks-flex-node preflight --config /etc/aks-flex-node/config.json, by the path that the plan names. Mostly the configuration cannot be loaded, or the cluster does not answer.',
  }
}
