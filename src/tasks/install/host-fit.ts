import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import { isBootstrapping } from '../agent/first-boot.ts'
import { bootstrapUnit } from '../agent/names.ts'
import { readService, serviceFacts } from '../agent/service.ts'
import { isRoot } from '../agent/visible.ts'
import { systemdSilent } from '../worker/refusals.ts'

export const hostFacts = (): Fact[] => [...serviceFacts(), { kind: 'unit', name: bootstrapUnit }]

/** What every step of an install needs of a host before anything else. */
export const hostRefusal = (view: HostView, host: Host): ErrorDetails | null => {
  if (!view.systemd.ok) return systemdSilent(view.systemd.error)
  if (!isRoot(view)) return needsRoot
  return bootstrapping(view) ?? ((readService(view)?.variant ?? host.variant) === 'container' ? containerVariant : null)
}

/** Two that install at the same time would each find half of what the other does. */
export const bootstrapping = (view: HostView): ErrorDetails | null =>
  isBootstrapping(view)
    ? {
        code: 'precondition-unmet',
        message: `${bootstrapUnit} is at work: the host installs the agent by itself at its first boot. Nothing was changed.`,
        remedy: `Wait for it and run again. If it never ends: journalctl -u ${bootstrapUnit} on the host says why.`,
      }
    : null

export const needsRoot: ErrorDetails = {
  code: 'inspect-failed',
  message: 'Without root rights nothing can be installed, nor can it be seen what is there already.',
  remedy: 'Log in as root, or get root rights through sudo: -b, or `become: true` in the inventory.',
}

/** W5: the whole text of its unit is in no source, so nobody could write it rightly. */
const containerVariant: ErrorDetails = {
  code: 'precondition-unmet',
  message: 'This host is to run the container variant of the agent, which drover looks after and does not install.',
  remedy:
    'Install it as its container image says; or, if the host is to run the plain agent, correct `variant` in the inventory.',
}
