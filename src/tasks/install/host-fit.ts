import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import { readService } from '../agent/service.ts'
import { isRoot } from '../agent/visible.ts'
import { systemdSilent } from '../worker/refusals.ts'

/** What every step of an install needs of a host before anything else. */
export const hostRefusal = (view: HostView, host: Host): ErrorDetails | null => {
  if (!view.systemd.ok) return systemdSilent(view.systemd.error)
  if (!isRoot(view)) return needsRoot
  return (readService(view)?.variant ?? host.variant) === 'container' ? containerVariant : null
}

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
