import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import type { HostRoot } from '../agent/paths.ts'
import { type CheckContext, contextFacts, contextOf } from '../preflight/check.ts'
import { failures, ignoreList, withIgnored } from '../preflight/ignore.ts'
import { checks } from '../preflight/registry.ts'
import type { Finding, Severity } from '../task.ts'
import { ownPreflightArgs, ownPreflightFacts } from './own-preflight.ts'
import { readReport } from './preflight-report.ts'

export interface Verdict {
  readonly findings: readonly Finding[]
  /** Null: the agent has nothing against it. */
  readonly error: ErrorDetails | null
}

export const ownVerdictFacts = (host: Host): Fact[] => [
  ...ownPreflightFacts(),
  ...contextFacts(),
  ...checks.flatMap((check) => check.facts(host)),
]

/** Rule M3: what the agent says of this host, and beside it what drover's own probe of the same name says otherwise. */
export const ownVerdict = (
  view: HostView,
  host: Host,
  root: HostRoot,
  ignored: string | readonly string[],
): Verdict => {
  const read = readReport(view.probe('agent-preflight', ownPreflightArgs(root)))
  if ('code' in read) return { findings: [], error: read }
  const context = contextOf(view, host)
  const judged = read.map((finding) => leftByUs(view, context, finding))
  const findings = withIgnored(judged, ignoreList(ignored))
  const shown = [...findings, ...disagreements(view, context, findings)]
  const bad = failures(findings, false)
  return {
    findings: shown.map((finding) => ({ ...finding, lasting: true })),
    error: bad.length === 0 ? null : refused(bad),
  }
}

/** A cut install leaves recovery files, and those alone: nothing that the agent would call a deployment is in its way. */
const leftByUs = (view: HostView, context: CheckContext, finding: Finding): Finding => {
  if (finding.check !== 'existing-deployment' || finding.severity !== 'error') return finding
  const own = probed(view, context, finding.check)
  if (own.length === 0 || worst(own) !== 'warning') return finding
  return { ...finding, severity: 'warning', message: `${finding.message}; that is an install by drover that was cut` }
}

const probed = (view: HostView, context: CheckContext, name: string): readonly Finding[] =>
  checks.filter((check) => check.name === name).flatMap((check) => check.evaluate(view, context))

/** Shown and no more: drover's own probes have had their say in the step before. */
const disagreements = (view: HostView, context: CheckContext, findings: readonly Finding[]): Finding[] =>
  [...new Set(findings.map(({ check }) => check))].flatMap((name) => {
    const own = probed(view, context, name).filter(({ message }) => !message.startsWith('not-run'))
    const agents = findings.filter(({ check, ignored }) => check === name && !ignored)
    if (own.length === 0 || agents.length === 0 || worst(own) === worst(agents)) return []
    return own.map((finding) => ({
      ...finding,
      severity: finding.severity === 'error' ? 'warning' : finding.severity,
      message: `drover's own probe says otherwise: ${finding.message}`,
    }))
  })

const order: readonly Severity[] = ['ok', 'warning', 'error']
const worst = (findings: readonly Finding[]): Severity =>
  order[Math.max(...findings.map(({ severity }) => order.indexOf(severity)))] ?? 'ok'

const refused = (bad: readonly Finding[]): ErrorDetails => {
  const names = [...new Set(bad.map(({ check }) => check))]
  return {
    code: 'preflight-failed',
    message: `The agent's own preflight found ${bad.length} error${bad.length === 1 ? '' : 's'}: ${names.join(', ')}. It lies ready, and no unit was written.`,
    remedy: `Put it right on the host and run again; or let it pass with --ignore-preflight-errors=${names.join(',')}.`,
    detail: bad.map(({ check, message }) => `${check}: ${message}`).join('\n'),
  }
}
