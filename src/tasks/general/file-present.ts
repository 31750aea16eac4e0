import { z } from 'zod'
import { contentBytes, sha256 } from '../../changes/predict.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { Secret } from '../../secret.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'
import { modeBits, modeParam } from './mode.ts'
import { isOwnedSo, ownerParam } from './owner.ts'
import { pathParam } from './path-param.ts'
import { inTheWay, mountedOn, mountRefusal, parentMissing } from './refusals.ts'
import { reloadFor } from './unit-files.ts'
import { wayTo } from './way.ts'

const contentParam = z.union([
  z.string(),
  z.custom<Secret>(
    (value) => value instanceof Secret,
    'The content is neither a text nor a secret.\nWrite a text, in quotes if it looks like a number, or the variable of a secret as the whole value.',
  ),
])

const params = z
  .strictObject({
    path: pathParam.describe(
      'Where the file lies. Links above it are followed; a link in its own place is never replaced',
    ),
    content: contentParam.describe('All of its content, to the byte: a text, or a secret variable as the whole value'),
    mode: modeParam
      .exactOptional()
      .describe('Permissions in octal, in quotes; "0644" if not given, "0600" if the content is a secret'),
    owner: ownerParam.default('root:root').describe('user:group, names or numbers'),
  })
  .superRefine(({ content, mode }, context) => {
    if (!(content instanceof Secret) || mode === undefined || (modeBits(mode) & 0o007) === 0) return
    const message =
      'This mode lets everyone on the host at the secret.\nEnd it in 0, as in "0600" or "0640", or leave it out.'
    context.addIssue({ code: 'custom', path: ['mode'], message })
  })

type Params = z.infer<typeof params>

/** More than this of the old content is not fetched for the diff. */
const diffBytes = 65_536

export const filePresent: Task<Params> = {
  name: 'file-present',
  summary: 'A regular file has this content, mode and owner.',
  params,
  example: `name: banner
description: Say on every host who looks after it
steps:
  - task: file-present
    with:
      path: /etc/motd
      content: |
        This host is kept by drover.
      mode: "0644"
`,
  facts: ({ path, content }): Fact[] => [
    content instanceof Secret
      ? { kind: 'path', path, sha256: true, secret: true }
      : { kind: 'path', path, sha256: true, content: diffBytes },
    { kind: 'mount', path },
  ],
  plan: (view, { path, content, mode, owner }): Planned => {
    const way = wayTo(view, path)
    if ('code' in way) return blocked(way)
    const node = view.node(path)
    if (node.type !== 'absent' && node.type !== 'file') return blocked(inTheWay(path, node, 'a file'))
    if (way.missing.length > 0) return blocked(parentMissing(path, way.missing))
    const { place } = way
    const wanted = { mode: modeBits(mode ?? (content instanceof Secret ? '0600' : '0644')), owner }
    const bytes = contentBytes(content)
    if (node.type === 'file' && view.sha256(path) === sha256(bytes)) {
      if (isOwnedSo(node, wanted)) return satisfied()
      const refusal = mountRefusal(path, view.mount(path))
      return refusal === null ? planned([{ kind: 'attributes', path: place, ...wanted }]) : blocked(refusal)
    }
    const refusal = writeRefusal(view, { path, place, size: bytes.length })
    return refusal === null
      ? planned([{ kind: 'write', path: place, content, ...wanted }, ...reloadFor(place)])
      : blocked(refusal)
  },
}

/** A file that is itself mounted, as a container's /etc/hosts is, cannot be renamed over. */
const writeRefusal = (view: HostView, { path, place, size }: { path: string; place: string; size: number }) => {
  const mount = view.mount(path)
  return mount.mountPoint === place ? mountedOn(path) : mountRefusal(path, mount, size)
}
