import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { type Machine, machines } from '../agent/names.ts'
import { machineBinary } from '../agent/paths.ts'

export const workerBinaryFacts = (): Fact[] =>
  machines.map((machine): Fact => ({ kind: 'path', path: machineBinary(machine), sha256: true }))

/** Null: that machine has no place for one, so nothing in it asks the agent for credentials. */
export const workerBinary = (view: HostView, machine: Machine): { readonly sha256: string | null } | null =>
  view.node(parentOf(machineBinary(machine))).type === 'directory'
    ? { sha256: view.sha256(machineBinary(machine)) }
    : null

/** The binary in the active worker, which gives the kubelet its credentials, has to be the agent's own (domain.md 1.4). */
export const workerBinaryCopy = (
  view: HostView,
  machine: Machine,
  binary: { readonly path: string; readonly sha256: string; readonly size: number },
): Change[] | ErrorDetails => {
  const there = workerBinary(view, machine)
  if (there === null) return []
  const path = machineBinary(machine)
  const node = view.node(path)
  // A link in the worker means a place in the worker, and from here leads to one of the host.
  if (
    view.realPath(parentOf(path)) !== `${view.realPath(`/var/lib/machines/${machine}`)}/usr/local/bin` ||
    node.type === 'symlink'
  ) {
    return {
      code: 'path-in-the-way',
      message: `${path}, the agent's binary in the active worker, or a directory above it, is a link: on the host it leads elsewhere than in the worker.`,
      remedy: 'Look at who put the link there. No release of the agent leaves a worker like that.',
    }
  }
  if (there.sha256 === binary.sha256) return []
  return [
    {
      kind: 'copy',
      from: binary.path,
      sha256: binary.sha256,
      size: binary.size,
      path,
      mode: 0o755,
      owner: 'root:root',
    },
  ]
}
