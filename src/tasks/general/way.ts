import type { ErrorDetails } from '../../errors.ts'
import { ancestry, join, nameOf, parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { inTheWay } from './refusals.ts'

/** How a path is reached on this host. */
export interface Way {
  /** The path with every link above its last component followed: where a change really happens. */
  readonly place: string
  /** Directories above it that are not there, the highest first; real places as well. */
  readonly missing: readonly string[]
}

/** The links above a path are followed, its last component is not. Refused where something else is above it. */
export const wayTo = (view: HostView, path: string): Way | ErrorDetails => {
  let here = '/'
  const missing: string[] = []
  for (const above of ancestry(parentOf(path))) {
    const node = view.target(above)
    if (node.type === 'directory') {
      here = view.realPath(above)
      continue
    }
    const itself = view.node(above)
    if (node.type !== 'absent' || itself.type === 'symlink') return inTheWay(above, itself, `a directory for ${path}`)
    here = join(here, nameOf(above))
    missing.push(here)
  }
  return { place: join(here, nameOf(path)), missing }
}

/** The links that lead to a path's directory, each at its real place, those inside of others' targets as well. */
export const linksAbove = (view: HostView, path: string): string[] => {
  const links: string[] = []
  const todo = partsOf(parentOf(path))
  let here = '/'
  for (let part = todo.shift(); part !== undefined && links.length < 40; part = todo.shift()) {
    if (part === '.') continue
    const at = part === '..' ? parentOf(here) : join(here, part)
    const node = view.node(at)
    if (node.type !== 'symlink') {
      here = at
      continue
    }
    links.push(at)
    if (node.target.startsWith('/')) here = '/'
    todo.unshift(...partsOf(node.target))
  }
  return links
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')
