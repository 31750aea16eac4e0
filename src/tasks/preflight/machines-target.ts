import type { HostView } from '../../facts/view.ts'
import { fault, fine, warning } from '../agent/finding.ts'
import { machinesTarget } from '../agent/names.ts'
import type { Finding } from '../task.ts'
import type { Check, CheckContext } from './check.ts'

const check = 'machines-target'
const target = machinesTarget

/** The table of domain.md 4.1, which PR #437 gives. The target is judged by its file state, not by activity. */
export const machinesTargetState: Check = {
  name: check,
  facts: () => [{ kind: 'unit', name: machinesTarget }],
  evaluate: (view, context) => [judged(view, context)],
}

const judged = (view: HostView, context: CheckContext): Finding => {
  if (!view.systemd.ok) {
    return fault({
      check,
      target,
      message: `the state of machines.target cannot be read: ${view.systemd.error}`,
      remedy: 'Make `systemctl show machines.target` work on the host.',
    })
  }
  const unit = view.unit(machinesTarget)
  const [load, file, id] = [unit.get('LoadState'), unit.get('UnitFileState'), unit.get('Id')]
  const both = `UnitFileState=${file}, LoadState=${load}`
  // An alias shows the file state of what it stands for, so only the name gives it away.
  if (id !== '' && id !== machinesTarget) return unexpected(`alias of ${id}`, both)
  if (load === 'masked' || file === 'masked' || file === 'masked-runtime') return masked(both)
  if (load === 'not-found' || file === '' || file === 'not-found') return missing(context, both)
  if (load !== 'loaded') return unexpected(load, `${both}, LoadError=${unit.get('LoadError')}`)
  return byFileState(file, both)
}

const byFileState = (file: string, both: string): Finding => {
  switch (file) {
    case 'enabled':
      return fine({ check, target, message: 'machines.target is enabled' })
    case 'linked':
      return fine({
        check,
        target,
        message: `machines.target is linked; the agent's Wants=machines.target starts workers at boot (${both})`,
      })
    case 'disabled':
    case 'enabled-runtime':
      return unpersistent(`${notPersistent} (${both})`)
    case 'linked-runtime':
      return unpersistent(
        `machines.target is linked in /run only, which no reboot outlives; ${notPersistent} (${both})`,
      )
    default:
      return unexpected(file, both)
  }
}

// Word for word what the agent says (PR #437).
const notPersistent =
  'machines.target is not enabled persistently; bootstrap installs a daemon Wants=machines.target dependency to start workers at boot'

const unpersistent = (message: string): Finding =>
  warning({
    check,
    target,
    message,
    remedy: 'Nothing to do before bootstrap. On a deployed host `drover status` says whether anything is.',
  })

const masked = (both: string): Finding =>
  fault({
    check,
    target,
    message: `machines.target is masked, and bootstrap does not unmask it (${both})`,
    remedy: 'Unmask machines.target before bootstrap: `systemctl unmask machines.target`.',
  })

const missing = (context: CheckContext, both: string): Finding =>
  context.offline || context.variant === 'container'
    ? fault({
        check,
        target,
        message: `machines.target is missing, and bootstrap cannot install systemd-container, which holds it (${both})`,
        remedy: 'Install systemd-container before bootstrap.',
      })
    : warning({
        check,
        target,
        message: `machines.target is missing; bootstrap may install systemd-container, which holds it (${both})`,
        remedy: 'Nothing to do online; or install systemd-container yourself.',
      })

const unexpected = (state: string, both: string): Finding =>
  fault({
    check,
    target,
    message: `machines.target is in an unexpected state: ${state} (${both})`,
    remedy: 'Restore the unit file that systemd-container ships, then run `systemctl daemon-reload`.',
  })
