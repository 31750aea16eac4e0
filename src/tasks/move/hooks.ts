import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { machines, workerUnit } from '../agent/names.ts'
import { type HostRoot, hostRoots, LEGACY, lifecycleHelper, ROOT, unitDirectory } from '../agent/paths.ts'
import { localDnsHelper } from './files.ts'

/** Units that run one of the agent's helpers, and what they are called by systemd. */
export const hooks: readonly { readonly path: string; readonly unit: string }[] = [
  ...machines.flatMap((machine) => [
    { path: `${unitDirectory}/${workerUnit(machine)}.d/override.conf`, unit: workerUnit(machine) },
    ...[`unbounded-agent-regenerate-config@${machine}.service`].map((unit) => ({
      path: `${unitDirectory}/${unit}`,
      unit,
    })),
  ]),
  { path: `${unitDirectory}/unbounded-localdns-network.service`, unit: 'unbounded-localdns-network.service' },
]

type Helper = (root: HostRoot) => string

const longest = 65_536

export const hooksFacts = (): Fact[] =>
  hooks.map(({ path }): Fact => ({ kind: 'path', path, content: longest, sha256: true }))

/**
 * Rule M6: exactly the helper's path becomes that of this root; every other byte is kept. A helper that neither lies there
 * nor is brought there is not named.
 */
export const hooksTo = (view: HostView, root: HostRoot): Change[] | ErrorDetails => {
  const changes: Change[] = []
  const there = [lifecycleHelper, localDnsHelper].filter((helper) => isThere(view, helper, root))
  for (const { path, unit } of hooks) {
    const text = view.text(path)
    const node = view.node(path)
    if (text === null) continue
    if (node.type === 'file' && node.size > longest) return unfit(path, `larger than ${longest} bytes`)
    const content = withHelpersOf(text, root, there)
    if (content === text) continue
    if (node.type !== 'file') return unfit(path, 'a link')
    if (Buffer.byteLength(text) !== node.size || text.includes('\uFFFD')) return unfit(path, 'not plain UTF-8 text')
    const owner = `${node.user || node.uid}:${node.group || node.gid}`
    changes.push({ kind: 'write', path, content, mode: node.mode, owner, model: { unit } })
  }
  return changes
}

/** Bringing the one that the worker's own hooks run is a part of the move. */
const isThere = (view: HostView, helper: Helper, root: HostRoot): boolean =>
  (helper === lifecycleHelper && root === ROOT ? hostRoots : [root]).some(
    (each) => view.target(helper(each)).type === 'file',
  )

/** As a whole path: another one may begin with it or end in it. Before it systemd knows signs such as `-` and `+`. */
const withHelpersOf = (text: string, root: HostRoot, helpers: readonly Helper[]): string => {
  const other = root === ROOT ? LEGACY : ROOT
  return helpers.reduce(
    (changed, helper) => changed.replaceAll(new RegExp(`(?<![\\w./])${helper(other)}(?![\\w./-])`, 'g'), helper(root)),
    text,
  )
}

const unfit = (path: string, what: string): ErrorDetails => ({
  code: 'layout-unknown',
  message: `${path} is ${what}, so the path of the agent's helper in it cannot be changed with all else kept.`,
  remedy: 'No release of the agent leaves it like that: look at who wrote it.',
})
