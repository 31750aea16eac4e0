import type { HostReport, PreflightReport } from './host-report.ts'
import type { FleetPreflight } from './run-report.ts'

/** Enough to see a pattern in; a fleet of thousands must not make the summary as long as the report. */
const namedHosts = 20

/** The verdict of the host's preflight steps; undefined if none came to one, as the agent prints nothing then. */
export const hostPreflight = (host: Pick<HostReport, 'steps' | 'findings'>): PreflightReport | undefined => {
  const steps = host.steps.filter((step) => isPreflight(step.task) && step.result !== 'skipped')
  if (steps.length === 0) return undefined
  const names = new Set(steps.map((step) => step.step))
  const findings = host.findings.filter((finding) => names.has(finding.step))
  const count = (severity: string): number => findings.filter((finding) => finding.severity === severity).length
  const summary = { ok: count('ok'), warnings: count('warning'), errors: count('error') }
  // Whether warnings fail it is the step's parameter; a failed step without an error shows that it was set.
  const failed = summary.errors > 0 || (summary.warnings > 0 && steps.some((step) => step.result === 'failed'))
  if (!failed && steps.some((step) => step.result !== 'ok')) return undefined
  return {
    status: failed ? 'failed' : 'ok',
    checks: findings.map(({ check, target, severity, message, ignored }) => ({
      name: check,
      target,
      severity,
      message,
      ignored,
    })),
    summary,
  }
}

/** What the fleet's preflights say together; undefined if no host has one. */
export const fleetPreflight = (hosts: readonly HostReport[]): FleetPreflight | undefined => {
  const verdicts = hosts.flatMap(({ name, preflight }) => (preflight === undefined ? [] : [{ name, preflight }]))
  if (verdicts.length === 0) return undefined
  const checks = new Map<string, FleetPreflight['checks'][number]>()
  for (const { name, preflight } of verdicts) {
    for (const check of preflight.checks) {
      const sum = checks.get(check.name) ?? {
        name: check.name,
        ok: 0,
        warnings: 0,
        errors: 0,
        hostsWithErrors: 0,
        hosts: [],
      }
      checks.set(check.name, sum)
      sum[counterOf[check.severity]] += 1
    }
    for (const failed of new Set(
      preflight.checks.filter((check) => check.severity === 'error').map((check) => check.name),
    )) {
      const sum = checks.get(failed)
      if (sum === undefined) continue
      sum.hostsWithErrors += 1
      if (sum.hosts.length < namedHosts) sum.hosts.push(name)
    }
  }
  const failed = verdicts.filter(({ preflight }) => preflight.status === 'failed').length
  const tally = { ok: verdicts.length - failed, failed, notRun: hosts.length - verdicts.length }
  return { hosts: tally, checks: [...checks.values()] }
}

const counterOf = { ok: 'ok', warning: 'warnings', error: 'errors' } as const

const isPreflight = (task: string): boolean => /^preflight\b/.test(task)
