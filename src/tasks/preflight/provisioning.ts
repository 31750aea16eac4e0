import type { Fact } from '../../facts/fact.ts'
import { join } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { fault, fine, warning } from '../agent/finding.ts'
import { isVisible } from '../agent/visible.ts'
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
    const findings = directories.flatMap((path) => judged(view, path))
    return findings.length > 0
      ? findings
      : [fine({ check, target: directories.join(', '), message: 'machines can be provisioned' })]
  },
}

const judged = (view: HostView, target: string): Finding[] => {
  const { type } = view.target(target)
  if (type !== 'absent' && type !== 'directory') {
    return [
      fault({ check, target, message: `${target} is not a directory`, remedy: `Move away what lies at ${target}.` }),
    ]
  }
  if (!isVisible(view, join(target, 'kube1'))) {
    return [
      warning({
        check,
        target,
        message: `only root can look into ${target}`,
        remedy: 'Connect as root, or use --become (-b).',
      }),
    ]
  }
  const { readOnly, mountPoint } = view.mount(target)
  if (!readOnly) return []
  const message = `${target} cannot be written: ${mountPoint} is mounted read-only`
  return [fault({ check, target, message, remedy: `Mount ${mountPoint} read-write.` })]
}
