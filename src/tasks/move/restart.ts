import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import { nameOf, parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit } from '../agent/names.ts'
import { LEGACY, layoutEntry, lifecycleHelper, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'
import { isStopped, restartOf } from '../switch/restart.ts'
import { localDnsHelper } from './files.ts'
import { hooks } from './hooks.ts'
import type { Limits } from './limits.ts'
import type { Movable } from './movable.ts'

/** The agent is brought to run the copy at the new root. */
interface RootStart {
  /** To wait until the unit may be started at all takes minutes (#385), so that comes before anything is held. */
  readonly room: readonly Change[]
  readonly start: readonly Change[]
}

/** Where the copy's slot really is once it is in its place: /opt may be a link. */
const slotAtRoot = (view: HostView, { layout }: Movable): string =>
  `${view.realPath(parentOf(ROOT))}/${nameOf(ROOT)}${layoutEntry(ROOT, layout.current).slice(ROOT.length)}`

/** U5: nothing where the agent was stopped on purpose. */
export const rootStart = (
  view: HostView,
  movable: Movable,
  limits: Limits,
  units: readonly Change[],
): RootStart | ErrorDetails => {
  if (isStopped(movable)) return { room: [], start: [] }
  const restart = restartOf(
    view,
    { ...movable, layout: { ...movable.layout, root: ROOT } },
    { limits: { ...limits, ...noOtherChecks }, exe: slotAtRoot(view, movable), units },
  )
  if ('code' in restart) return restart
  const isDenied = view.os.family === 'acl'
  const begin = restart.start.map((change) => ({ ...change, spoils: [...(change.spoils ?? []), ...writtenByMove] }))
  return {
    room: isDenied ? restart.room : [],
    start: [
      // A restart that is planned shall not count among those of a crash (#386).
      ...(isDenied ? [] : [{ kind: 'systemctl', verb: 'reset-failed', unit: agentUnit } as const]),
      ...begin,
      ...restart.awaits.map((change) => patient(change, limits)),
    ],
  }
}

/** A move is judged by what MainPID runs. */
export const noOtherChecks = {
  confirm_within_s: 0,
  health_command: null,
  health_url: null,
  health_within_s: 0,
} as const

/** Rule M5: a restart that the agent itself has queued may come in between, after which the time begins anew. */
const patient = (change: Change, { stable_s, within_s }: Limits): Change =>
  change.kind === 'await' && change.condition.is === 'running-from'
    ? { ...change, withinMs: (within_s + 2 * stable_s) * 1000 }
    : change

/** An agent that finds itself on its way removes what is left at the old root, and writes its hooks anew. */
export const writtenByMove: readonly string[] = [
  ...[lifecycleHelper(LEGACY), localDnsHelper(LEGACY), stagingRoot, movingMark],
  ...hooks.map(({ path }) => path),
].map((path) => `path:${path}`)
