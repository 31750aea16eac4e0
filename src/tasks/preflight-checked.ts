import { z } from 'zod'
import { mergeFacts } from '../facts/fact.ts'
import { Unreadable } from '../facts/unknown.ts'
import type { HostView } from '../facts/view.ts'

import type { Host } from '../inventory/host.ts'
import { fault } from './agent/finding.ts'
import { type Check, type CheckContext, contextFacts, contextOf } from './preflight/check.ts'
import { failures, ignoreList, withIgnored } from './preflight/ignore.ts'
import { notRun } from './preflight/not-run.ts'
import { checks } from './preflight/registry.ts'
import type { Finding, Planned, Task } from './task.ts'

const names = z.union([z.string(), z.array(z.string())])
const known = checks.map((check) => check.name)

const params = z.strictObject({
  ignore_preflight_errors: names
    .default([])
    .describe('Checks whose errors count as warnings, as a list or with commas; `all` for every check'),
  fail_on_warnings: z.boolean().default(false).describe('Fail on warnings, too, ignored errors among them'),
  // A misspelt name would leave a check in, or with luck be seen; unlike an ignore list it is for drover's checks alone.
  skip: names
    .refine((given) => [...ignoreList(given)].every((name) => known.includes(name)), {
      error: `A check to be skipped is not one of drover's.\nThere are: ${known.join(', ')}.`,
    })
    .default([])
    .describe('Checks not to be made at all'),
})

export type PreflightParams = z.output<typeof params>

export const preflightChecked: Task<PreflightParams> = {
  name: 'preflight-checked',
  summary: 'The host passes the preflight checks; nothing is changed.',
  params,
  isCheck: true,
  example: `name: fresh-host
description: May this host be bootstrapped?
steps:
  - task: preflight-checked
    with:
      ignore_preflight_errors: [api-server-reachable, host-os-configuration]
`,
  facts: (given, host) => mergeFacts([...contextFacts(), ...made(given).flatMap((check) => check.facts(host))]),
  plan: (view, given, host) => {
    const findings = withIgnored(evaluate(view, given, host), ignoreList(given.ignore_preflight_errors))
    const bad = failures(findings, given.fail_on_warnings)
    return bad.length === 0 ? { status: 'planned', changes: [], findings } : failed(bad, findings)
  },
}

const isSkipped = (given: PreflightParams, check: Check): boolean => ignoreList(given.skip).has(check.name)
const made = (given: PreflightParams): readonly Check[] => checks.filter((check) => !isSkipped(given, check))

const evaluate = (view: HostView, given: PreflightParams, host: Host): Finding[] => {
  const context = contextOf(view, host)
  return checks.flatMap((check) =>
    isSkipped(given, check) ? [notRun(check.name, 'left out by `skip`')] : evaluated(check, view, context),
  )
}

/** What the host does not show is an error of the one check that wanted it, and the others go on. */
const evaluated = (check: Check, view: HostView, context: CheckContext): readonly Finding[] => {
  try {
    return check.evaluate(view, context)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const seen = { check: check.name, target: check.name, message: `unknown: ${thrown.message}` }
    return [
      fault({ ...seen, remedy: 'Look at it on the host by hand, or let it pass with --ignore-preflight-errors.' }),
    ]
  }
}

const failed = (bad: readonly Finding[], findings: readonly Finding[]): Planned => {
  const kind = bad[0]?.severity === 'error' ? 'error' : 'warning'
  const found = [...new Set(bad.map((finding) => finding.check))].join(', ')
  return {
    status: 'failed',
    error: {
      code: 'preflight-failed',
      message: `preflight found ${bad.length} ${kind}${bad.length === 1 ? '' : 's'}: ${found}`,
      remedy:
        bad[0]?.remedy ??
        `Look at the findings, or let them pass with --ignore-preflight-errors=${found.replaceAll(' ', '')}.`,
      detail: bad.map((finding) => `${finding.check}: ${finding.message}`).join('\n'),
    },
    findings,
  }
}
