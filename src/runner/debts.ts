import type { Change } from '../changes/change.ts'
import type { HostState } from '../facts/state.ts'
import { nameOf } from '../facts/tree.ts'
import type { Planned } from '../tasks/task.ts'
import { planned } from '../tasks/task.ts'

/** Names that steps.sh gives, and no file that somebody else might call `.drover.yaml`. */
const temporary = /^\.drover\.[A-Za-z0-9._-]+\.\d+$/

/**
 * What a cut run wrote and never had loaded is done first: what systemd will make of it nobody knows, so the
 * units are unknown after it. Temporary files that the cut run left are removed. A restart is nothing to be made up
 * for here: the task that wanted it sees in the host's state whether it is still wanted, and knows what it may start.
 */
export const debtStep = (state: HostState): Planned | null => {
  const changes: Change[] = []
  // While somebody applies, temporary files are in use; the run will find the host locked in any case.
  const leftovers =
    state.self.applying === null ? state.self.leftovers.filter((path) => temporary.test(nameOf(path))) : []
  for (const path of leftovers) changes.push({ kind: 'remove', path, recurse: true })
  const units = [...state.units.keys()].map((name) => `unit:${name}`)
  if (state.self.owed.includes('daemon-reload'))
    changes.push({ kind: 'systemctl', verb: 'daemon-reload', spoils: units })
  return changes.length === 0 ? null : planned(changes)
}
