import { z } from 'zod'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'
import { pathParam } from './path-param.ts'
import { protection } from './protected-paths.ts'
import { mountedOn, mountRefusal } from './refusals.ts'
import { reloadFor } from './unit-files.ts'
import { wayTo } from './way.ts'

const removableParam = pathParam.superRefine((path, context) => {
  const why = protection(path)
  if (why === null) return
  context.addIssue({
    code: 'custom',
    message: `drover does not remove ${path}: ${why}.\nName what exactly is to go. If it really is this, do it by hand.`,
  })
})

const params = z.strictObject({
  path: removableParam.describe(
    'What must not be there: a file, a link (never what it leads to), or a directory. Paths that a host cannot do without are refused',
  ),
  recurse: z.boolean().default(false).describe('A directory may hold something, which goes with it'),
})

type Params = z.infer<typeof params>

// The mount points alone: the whole of mountinfo is too long for an answer on a node with many pods.
const mountPoints = ['cut', '-d', ' ', '-f', '5', '/proc/self/mountinfo']

/** Where the inspect script cuts off what a command says (ask_commands). */
const longestAnswer = 65_536

export const pathAbsent: Task<Params> = {
  name: 'path-absent',
  summary:
    'Nothing lies at a path. A directory that holds something goes only if the step says so, and never a mount point.',
  params,
  example: `name: tidy
description: Remove what an old installer left behind
steps:
  - task: path-absent
    with: { path: /var/tmp/old-installer, recurse: true }
`,
  facts: ({ path, recurse }): Fact[] => [
    { kind: 'path', path, entries: true },
    { kind: 'mount', path },
    { kind: 'mount', path: parentOf(path) },
    ...(recurse ? [{ kind: 'command', argv: mountPoints } as const] : []),
  ],
  plan: (view, { path, recurse }): Planned => {
    const node = view.node(path)
    if (node.type === 'absent') return satisfied()
    const way = wayTo(view, path)
    if ('code' in way) return blocked(way)
    const { place } = way
    const isDirectory = node.type === 'directory'
    const why = isDirectory && parentOf(place) === '/' ? 'it is a top-level directory' : protection(place)
    if (why !== null) return blocked(isProtected(path, place, why))
    if (node.type !== 'symlink' && view.mount(path).mountPoint === place) return blocked(mountedOn(path))
    const holds = isDirectory && view.entries(path).length > 0
    const refusal =
      (holds ? treeRefusal(view, { path, place, recurse }) : null) ?? mountRefusal(path, view.mount(parentOf(path)))
    return refusal === null
      ? planned([{ kind: 'remove', path: place, recurse: holds }, ...reloadFor(place)])
      : blocked(refusal)
  },
}

const isProtected = (path: string, place: string, why: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `${path} ${path === place ? 'is not removed' : `is ${place} on this host, which is not removed`}: ${why}.`,
  remedy: 'Name what exactly is to go. If it really is this, do it by hand.',
})

const treeRefusal = (
  view: HostView,
  { path, place, recurse }: { path: string; place: string; recurse: boolean },
): ErrorDetails | null => {
  if (!recurse) {
    return {
      code: 'precondition-unmet',
      message: `The directory ${path} holds ${holding(view.entries(path))}.`,
      remedy: 'If all of it may go, add recurse: true to the step.',
    }
  }
  const { code, stdout } = view.command(mountPoints)
  // A list that could not be had, or that was cut off, proves nothing.
  if (code !== 0 || Buffer.byteLength(stdout) >= longestAnswer) {
    return {
      code: 'precondition-unmet',
      message: `Whether something is mounted below ${path} cannot be said: the host's list of mounts could not be read.`,
      remedy: 'Look at it with findmnt, and remove the directory by hand.',
    }
  }
  const below = stdout
    .split('\n')
    .map(unescaped)
    .find((point) => point.startsWith(`${place}/`))
  if (below === undefined) return null
  return {
    code: 'precondition-unmet',
    message: `${below} is mounted below ${path}, so that is not removed.`,
    remedy: `Unmount it first: stop its mount unit, or umount ${below} on the host.`,
  }
}

const holding = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and more` : names.join(', ')

/** mountinfo writes blanks and backslashes in octal. */
const unescaped = (point: string): string =>
  point.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
