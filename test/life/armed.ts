import type { Change, GuardScope } from '../../src/changes/change.ts'
import type { Undo } from '../../src/changes/undo.ts'
import type { Node } from '../../src/facts/node.ts'
import { daemonStateFile, LEGACY, movingMark } from '../../src/tasks/agent/paths.ts'
import { restartUnit, startUnit } from './agent.ts'
import type { LivingHost } from './host.ts'

/** A rollback that the host carries out by itself unless it is confirmed. */
export interface Armed {
  readonly undo: readonly Undo[]
  readonly kept: ReadonlyMap<string, Node>
  readonly scope: GuardScope
  readonly root: string
}

interface Place {
  readonly path: string
  readonly was: string
  /** What the group makes of it on its way; null: anything, since the agent writes it at every start. */
  readonly ours: readonly string[] | null
}

export const arm = (host: LivingHost, { undo = [], scope }: Extract<Change, { kind: 'arm' }>): void => {
  const paths = undo.flatMap((one) => ('path' in one ? [one.path] : []))
  const kept = new Map(paths.map((path) => [path, host.disk.lstat(path)]))
  host.armed = { undo, scope, kept, root: lies(host, scope.root) }
}

/**
 * What rollback/fire.sh does: nothing at all where a place or the root is somebody else's by now; else every place back
 * to what it was before all of the group, the worker's binary, one reload, and then the units.
 */
export const fire = (host: LivingHost, atBoot = false): void => {
  const { armed } = host
  host.lock = null
  if (armed === null) return
  const places = placesOf(armed)
  if (isSuperseded(host, armed) || !places.every((place) => isOurs(host, place))) {
    host.armed = null
    return
  }
  host.lock = 'drover'
  const units = armed.undo.filter((one) => one.kind === 'unit')
  for (const { unit, was } of units) if (was === 'down' || was === 'failed') host.stop(unit)
  for (const place of places) back(host, armed, place)
  if (armed.undo.some(({ kind }) => kind === 'daemon-reload')) host.reload()
  host.armed = null
  workerBack(host, armed)
  host.onStep('all is back')
  for (const { unit, was } of atBoot ? [] : units) {
    if (was === 'failed') startUnit(host, unit)
    else if (was !== 'down') restartUnit(host, unit)
  }
  host.lock = null
}

const placesOf = ({ undo, scope }: Armed): Place[] => {
  const all = undo.filter((one) => one.kind === 'link' || one.kind === 'file')
  const inWorkers = ['kube1', 'kube2'].map((machine) => scope.worker?.inside.replace('{machine}', machine))
  const paths = [...new Set(all.map(({ path }) => path).reverse())].reverse()
  return paths
    .filter((path) => !inWorkers.includes(path))
    .map((path) => {
      const same = all.filter((one) => one.path === path)
      const isAny = same.some((one) => one.kind === 'file' && one.rewritten === true)
      const states = same.flatMap((one) =>
        one.kind === 'link' ? [`-> ${one.was}`, `-> ${one.ours}`] : [`${one.wasSha256}`, `${one.oursSha256}`],
      )
      const [was = ''] = states.slice(-2)
      return { path, was: clean(was), ours: isAny ? null : states.map(clean) }
    })
}

const clean = (state: string): string => (/null$/.test(state) ? 'absent' : state)

const lies = ({ disk }: LivingHost, path: string): string => {
  const node = disk.lstat(path)
  if (node.type === 'symlink') return `-> ${node.target}`
  return node.type === 'file' ? String(node.sha256) : node.type
}

const isSuperseded = (host: LivingHost, { root, scope }: Armed): boolean => {
  const now = lies(host, scope.root)
  return host.disk.exists(movingMark) || !(now === root || (root === 'absent' && now === `-> ${LEGACY}`))
}

const isOurs = (host: LivingHost, { path, ours }: Place): boolean =>
  ours === null ? lies(host, path) !== 'directory' : ours.includes(lies(host, path))

const back = (host: LivingHost, { kept }: Armed, { path, was }: Place): void => {
  const before = kept.get(path)
  if (lies(host, path) === was || before === undefined) return
  host.disk.remove(path)
  host.disk.put(path, before)
  host.onStep(`put back ${path}`)
}

const workerBack = ({ disk }: LivingHost, { scope: { worker } }: Armed): void => {
  const machine = /"activeMachine":"(\w+)"/.exec(disk.text(daemonStateFile) ?? '')?.[1]
  if (worker === undefined || machine === undefined) return
  const inside = worker.inside.replace('{machine}', machine)
  if (disk.exists(inside)) disk.write(inside, disk.text(worker.current) ?? '', 0o755)
}
