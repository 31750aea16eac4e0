import { fine, warning } from '../agent/finding.ts'
import { containerdUnit } from '../agent/names.ts'
import type { Check } from './check.ts'

/** Services of the host that would run beside the worker's own. */
const inactive = (name: string, unit: string): Check => ({
  name,
  facts: () => [{ kind: 'unit', name: unit }],
  evaluate: (view, context) => {
    const seen = { check: name, target: unit }
    if (!view.systemd.ok) {
      const message = `whether ${unit} is active is unknown: ${view.systemd.error}`
      return [warning({ ...seen, message, remedy: 'Make `systemctl show` work on the host.' })]
    }
    const state = view.unit(unit).get('ActiveState')
    if (!['active', 'activating', 'reloading'].includes(state))
      return [fine({ ...seen, message: `${unit} is not active` })]
    if (unit === containerdUnit && context.variant === 'container') {
      return [fine({ ...seen, message: `${unit} is ${state}, as the container variant of the agent needs` })]
    }
    return [
      context.deployed
        ? warning({
            ...seen,
            message: `${unit} is ${state} on a deployed host`,
            remedy: `Find out who started ${unit}: bootstrap had disabled it.`,
          })
        : warning({
            ...seen,
            message: `${unit} is ${state}; bootstrap will disable it`,
            remedy: `Nothing to do, unless something else needs ${unit}.`,
          }),
    ]
  },
})

export const dockerInactive = inactive('docker-active', 'docker.service')
export const containerdInactive = inactive('containerd-active', containerdUnit)
export const kubeletInactive = inactive('kubelet-active', 'kubelet.service')
