import { z } from 'zod'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import { parentOf } from '../../facts/tree.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'
import { pathParam } from './path-param.ts'
import { inTheWay, mountRefusal, parentMissing } from './refusals.ts'
import { reloadFor } from './unit-files.ts'
import { linksAbove, wayTo } from './way.ts'

const targetParam = z
  .string()
  .refine(
    (target) => target !== '' && !target.includes('\0') && Buffer.byteLength(target) <= 4095,
    'A link cannot lead there.\nWrite a path, absolute or relative to the directory of the link.',
  )

const params = z.strictObject({
  path: pathParam.describe('Where the link itself lies'),
  target: targetParam.describe(
    'The text of the link: an absolute path, or one relative to the directory of the link. Nothing need be there',
  ),
  replace: z
    .boolean()
    .default(false)
    .describe('Replace a link that leads elsewhere. A file or directory is never replaced'),
})

type Params = z.infer<typeof params>

export const linkPresent: Task<Params> = {
  name: 'link-present',
  summary: 'A symbolic link leads to this target.',
  params,
  example: `name: timezone
description: Keep the clocks of the fleet on UTC
steps:
  - task: link-present
    with: { path: /etc/localtime, target: ../usr/share/zoneinfo/UTC, replace: true }
`,
  facts: ({ path }): Fact[] => [
    { kind: 'path', path },
    // Of the directory: asked of the link itself, the answer would be about what it leads to.
    { kind: 'mount', path: parentOf(path) },
  ],
  plan: (view, { path, target, replace }): Planned => {
    const way = wayTo(view, path)
    if ('code' in way) return blocked(way)
    const node = view.node(path)
    if (node.type === 'symlink' && node.target === target) return satisfied()
    if (node.type === 'symlink' && !replace) return blocked(leadsElsewhere(path, node.target))
    if (node.type !== 'symlink' && node.type !== 'absent') return blocked(inTheWay(path, node, `a link to ${target}`))
    if (way.missing.length > 0) return blocked(parentMissing(path, way.missing))
    // Replaced, it would take the path that leads to it away from under itself.
    if (node.type === 'symlink' && linksAbove(view, path).includes(way.place))
      return blocked(leadsThroughItself(path, way.place))
    const refusal = mountRefusal(path, view.mount(parentOf(path)), 0)
    if (refusal !== null) return blocked(refusal)
    return planned([{ kind: 'link', path: way.place, target }, ...reloadFor(way.place)])
  },
}

const leadsElsewhere = (path: string, target: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${path} is a link to ${target}, another target than the one wanted. It was left alone.`,
  remedy: 'If it may go, add replace: true to the step.',
})

const leadsThroughItself = (path: string, place: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${path} is on this host the link ${place}, through which the path itself leads. It was left alone.`,
  remedy: `Name the link as it really lies: ${place}.`,
})
