import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { fault, fine } from '../agent/finding.ts'
import type { Finding } from '../task.ts'
import type { Check } from './check.ts'
import { installDirectory, installDirectoryFacts } from './install-directory.ts'

const check = 'host-os-configuration'

/** Bootstrap writes into these and does not make them (PR #437: "no /etc/sysctl.d in the image"). */
const directories = ['/etc/sysctl.d', '/etc/systemd/system']

export const osConfiguration: Check = {
  name: check,
  facts: () => [
    ...directories.flatMap((path): Fact[] => [
      { kind: 'path', path },
      { kind: 'mount', path },
    ]),
    ...installDirectoryFacts(),
  ],
  evaluate: (view) => {
    const faults = [...directories.flatMap((path) => judged(view, path)), ...installable(view)]
    return faults.length > 0
      ? faults
      : [fine({ check, target: 'host OS configuration', message: 'the host can be configured' })]
  },
}

const judged = (view: HostView, target: string): Finding[] => {
  const type = view.target(target).type
  if (type !== 'directory') {
    const message = type === 'absent' ? `${target} is missing` : `${target} is not a directory`
    return [fault({ check, target, message, remedy: `Make the directory ${target}.` })]
  }
  return writable(view, target)
}

const installable = (view: HostView): Finding[] => writable(view, installDirectory(view))

const writable = (view: HostView, target: string): Finding[] => {
  const mount = view.mount(target)
  if (!mount.readOnly) return []
  const message = `${target} is not writable: ${mount.mountPoint} is mounted read-only`
  return [fault({ check, target, message, remedy: `Mount ${mount.mountPoint} read-write.` })]
}
