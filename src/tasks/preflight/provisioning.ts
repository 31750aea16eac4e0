import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { fault, fine } from '../agent/finding.ts'
import type { Finding } from '../task.ts'
import type { Check } from './check.ts'

const check = 'nspawn-machine-provisioning'
const directories = ['/var/lib/machines', '/etc/systemd/nspawn']

export const machineProvisioning: Check = {
  name: check,
  facts: () =>
    directories.flatMap((path): Fact[] => [
      { kind: 'path', path },
      { kind: 'mount', path },
    ]),
  evaluate: (view) => {
    const faults = directories.flatMap((path) => judged(view, path))
    return faults.length > 0 ? faults : [fine({ check, target: directories.join(', '), message: 'machines can be provisioned' })]
  },
}

const judged = (view: HostView, target: string): Finding[] => {
  const { type } = view.target(target)
  if (type !== 'absent' && type !== 'directory') {
    return [fault({ check, target, message: `${target} is not a directory`, remedy: `Move away what lies at ${target}.` })]
  }
  const { readOnly, mountPoint } = view.mount(target)
  if (!readOnly) return []
  const message = `${target} cannot be written: ${mountPoint} is mounted read-only`
  return [fault({ check, target, message, remedy: `Mount ${mountPoint} read-write.` })]
}
