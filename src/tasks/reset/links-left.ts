import type { HostView } from '../../facts/view.ts'
import { warning } from '../agent/finding.ts'
import type { Finding } from '../task.ts'

/** Of a link only the link is removed. */
export const linksLeft = (view: HostView, paths: readonly string[]): Finding[] =>
  paths.flatMap((path) => {
    const node = view.node(path)
    if (node.type !== 'symlink') return []
    return [
      {
        ...warning({
          check: 'link-target-left',
          target: path,
          message: `${path} is a link to ${node.target}; the link goes, and what it leads to stays`,
          remedy: `Look at ${node.target} on the host: what the agent kept there, secrets among it, is still there.`,
        }),
        lasting: true,
      } as const,
    ]
  })
