import type { Change } from '../changes/change.ts'
import { armedOf } from '../facts/armed.ts'
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
  // A rollback that is armed or carried out may still need what lies about; first comes what becomes of it.
  if (armedOf(state.self) !== null) return null
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

/** Names that uploads give, whole or in part. */
const staged = /^\.drover-([0-9a-f]{64})(\.part)?$/

/**
 * What uploads brought to the host and never came to its place: the next upload of the same file goes on where that one
 * was cut, so it stays for as long as something here wants it. `wanted`: all changes of a plan that knows its end.
 */
export const abandonedUploads = (state: HostState, wanted: readonly Change[]): Planned | null => {
  if (state.self.applying !== null || armedOf(state.self) !== null) return null
  const digests = new Set(wanted.flatMap((change) => (change.kind === 'upload' ? [change.artifact.sha256] : [])))
  const abandoned = state.self.leftovers.filter((path) => {
    const digest = staged.exec(nameOf(path))?.[1]
    return digest !== undefined && !digests.has(digest)
  })
  return abandoned.length === 0 ? null : planned(abandoned.map((path) => ({ kind: 'remove', path, recurse: false })))
}

/** The line that a rollback of an earlier run left goes with whatever a run changes: the run has told of it. */
export const toldStep = ({ self }: HostState): Planned | null =>
  self.rollback?.phase === 'rolled-back'
    ? planned([{ kind: 'remove', path: '/var/lib/drover/rolled-back', recurse: false }])
    : null
