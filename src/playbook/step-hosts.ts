import { DroverError } from '../errors.ts'
import type { Host, Inventory } from '../inventory/host.ts'
import { quoted } from '../inventory/names.ts'
import { didYouMean, nearName } from '../inventory/near.ts'
import { selectHosts } from '../inventory/patterns.ts'
import type { YamlPath } from '../inventory/strict-yaml.ts'
import type { HostFaults } from './host-faults.ts'
import type { Playbook } from './playbook.ts'

export interface Selecting {
  readonly playbook: Playbook
  readonly inventory: Inventory
  readonly cwd: string
}

export interface IsFor {
  playbook(host: Host): boolean
  step(index: number, host: Host): boolean
}

/** The patterns of a playbook over the whole inventory: one that a limit leaves nothing of is no slip. */
export const selectFor = ({ playbook, inventory, cwd }: Selecting, faults: HostFaults): IsFor => {
  const namesOf = (pattern: string, path: YamlPath): ReadonlySet<string> => {
    try {
      return new Set(selectHosts(inventory, pattern, { cwd }).map(({ name }) => name))
    } catch (thrown) {
      if (!(thrown instanceof DroverError)) throw thrown
      const code = thrown.code === 'pattern-no-match' ? thrown.code : 'playbook-invalid'
      faults.add({ code, path, message: thrown.message, remedy: thrown.remedy })
      return new Set()
    }
  }
  const all = namesOf(playbook.hosts, ['hosts'])
  const steps = playbook.steps.map(({ hosts }, index) =>
    hosts === null ? null : namesOf(hosts, ['steps', index, 'hosts']),
  )
  checkGroups(playbook, inventory, faults)
  return {
    playbook: ({ name }) => all.has(name),
    step: (index, { name }) => steps[index]?.has(name) ?? true,
  }
}

/** A group that nobody defines would skip its step on every host and look like success. */
const checkGroups = ({ steps }: Playbook, { groups }: Inventory, faults: HostFaults): void => {
  const names = new Set(['all', ...groups.map(({ name }) => name)])
  for (const [index, { when }] of steps.entries()) {
    for (const [place, group] of (when?.group ?? []).entries()) {
      if (names.has(group)) continue
      faults.add({
        code: 'pattern-no-match',
        path: ['steps', index, 'when', 'group', place],
        message: `No group is called ${quoted(group)}.`,
        remedy: didYouMean(nearName(group, names), 'See drover inventory graph for the groups there are.'),
      })
    }
  }
}
