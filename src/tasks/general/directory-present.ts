import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import type { Fact } from '../../facts/fact.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'
import { modeBits, modeParam } from './mode.ts'
import { isOwnedSo, ownerParam } from './owner.ts'
import { pathParam } from './path-param.ts'
import { inTheWay, mountRefusal, parentMissing } from './refusals.ts'
import { wayTo } from './way.ts'

const params = z.strictObject({
  path: pathParam.describe('Where the directory lies. Links above it are followed; a link in its own place is refused'),
  mode: modeParam.default('0755').describe('Permissions in octal, in quotes'),
  owner: ownerParam.default('root:root').describe('user:group, names or numbers'),
  parents: z
    .boolean()
    .default(false)
    .describe('Also make the directories above it that are missing, with mode 0755 and owner root:root'),
})

type Params = z.infer<typeof params>

export const directoryPresent: Task<Params> = {
  name: 'directory-present',
  summary: 'A directory exists with this mode and owner; what is in it is left alone.',
  params,
  example: `name: scratch-space
description: A directory that every user may write to
steps:
  - task: directory-present
    with: { path: /srv/scratch/shared, mode: "1777", parents: true }
`,
  facts: ({ path }): Fact[] => [
    { kind: 'path', path },
    { kind: 'mount', path },
  ],
  plan: (view, { path, mode, owner, parents }): Planned => {
    const way = wayTo(view, path)
    if ('code' in way) return blocked(way)
    const node = view.node(path)
    if (node.type !== 'absent' && node.type !== 'directory') return blocked(inTheWay(path, node, 'a directory'))
    if (way.missing.length > 0 && !parents) return blocked(parentMissing(path, way.missing))
    const wanted = { mode: modeBits(mode), owner }
    if (node.type === 'directory' && isOwnedSo(node, wanted)) return satisfied()
    const refusal = mountRefusal(path, view.mount(path), node.type === 'directory' ? undefined : 0)
    if (refusal !== null) return blocked(refusal)
    if (node.type === 'directory') return planned([{ kind: 'attributes', path: way.place, ...wanted }])
    return planned([...way.missing.map(parentAt), { kind: 'directory', path: way.place, ...wanted }])
  },
}

const parentAt = (path: string): Change => ({ kind: 'directory', path, mode: 0o755, owner: 'root:root' })
