import { z } from 'zod'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'

const params = z.strictObject({
  when: z
    .enum(['always', 'required'])
    .describe(
      'always: the host has been booted since the run began. required: only where the host itself says that it needs it (/run/reboot-required; on RHEL and its kin needs-restarting -r)',
    ),
  within_s: z
    .number()
    .int()
    .min(10)
    .max(7200)
    .default(600)
    .describe('Seconds the host may take to go down, come up and be reached again'),
})

type Params = z.infer<typeof params>

/** What Debian, Ubuntu and their kin leave for the administrator. */
const sign = '/run/reboot-required'
/** It reads the package database, which takes its time. */
const question = { kind: 'command', argv: ['needs-restarting', '-r'], timeoutS: 60 } as const

export const hostRebooted: Task<Params> = {
  name: 'host-rebooted',
  summary: 'A host has been booted since the run began, and is reached again; always, or where it needs a reboot.',
  params,
  example: `name: new-kernel
description: Hosts that need a reboot get it, and the worker runs after it
steps:
  - task: host-rebooted
    with: { when: required, within_s: 900 }
  - task: worker-running
`,
  facts: ({ when }): Fact[] => (when === 'always' ? [] : [{ kind: 'path', path: sign }, question]),
  plan: (view, { when, within_s }): Planned => {
    const verdict = when === 'always' ? !view.rebooted : isRequired(view)
    if (typeof verdict === 'object') return blocked(verdict)
    if (!verdict) return satisfied()
    if (!view.os.isSystemd) return blocked(notSystemd)
    return planned([{ kind: 'reboot', withinMs: within_s * 1000 }])
  },
}

const isRequired = (view: HostView): boolean | ErrorDetails => {
  if (view.node(sign).type !== 'absent') return true
  if (view.os.family !== 'rhel') return false
  const { code, stdout } = view.command(question.argv)
  if (code === 0) return false
  // A program that fails ends with 1, too.
  if (code === 1 && stdout.includes('Reboot is required')) return true
  // Whatever asked for it has been booted into by now.
  if (view.rebooted) return false
  return {
    code: 'precondition-unmet',
    message: `Whether the host needs a reboot cannot be said: needs-restarting -r ${code === 127 ? 'is not there' : `ended with ${code}`}.`,
    remedy:
      code === 127
        ? 'Install dnf-utils (package-present in an earlier run does), or say when: always.'
        : 'Run needs-restarting -r by hand on the host to see why, or say when: always.',
  }
}

const notSystemd: ErrorDetails = {
  code: 'precondition-unmet',
  message:
    'The host was not booted by systemd: what a reboot would do to it, and whether it comes up again, drover cannot say.',
  remedy: 'Reboot it by hand; in a container, restart the container.',
}
