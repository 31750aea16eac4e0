import type { HostView } from '../../facts/view.ts'
import { fine, warning } from '../agent/finding.ts'
import { type HostRootState, hostRootState } from '../agent/host-root.ts'
import { hostRootSigns } from '../agent/host-root-signs.ts'
import { wayOutOf } from '../agent/kept-layout.ts'
import { configDirectory } from '../agent/paths.ts'
import type { Finding } from '../task.ts'
import { bpffs, hostRouteLinks, hostRouteUnits, trees, unitFileOf } from './belongings.ts'
import { mountsBelow } from './facts.ts'
import { linksLeft } from './links-left.ts'
import { readNetwork } from './network.ts'
import { mountsIn } from './removal.ts'

/** What stays on the host although it may be the agent's, and what to do about each. */
export const leftFindings = (view: HostView): Finding[] => [
  ...networkLeft(view),
  ...hostRoutesLeft(view),
  ...bpffsLeft(view),
  ...rootLeft(hostRootState(hostRootSigns(view))),
  ...linksLeft(view, trees),
]

/** Rule M8: listed, never deleted. */
const networkLeft = (view: HostView): Finding[] => {
  const { interfaces, rules, table } = readNetwork(view)
  return [
    ...interfaces.map((name) =>
      warning({
        check: 'interface-left',
        target: name,
        message: `the network interface ${name} is there; it may be the agent's, or yours`,
        remedy: `If nobody needs it: ip link delete ${name} on the host. drover deletes none but that of LocalDNS.`,
      }),
    ),
    ...(rules.length === 0
      ? []
      : [
          fine({
            check: 'rules-left',
            target: 'ip rule',
            message: `policy rules were left alone: ${rules.join('; ')}`,
          }),
        ]),
    ...(table === 'unknown'
      ? [
          warning({
            check: 'localdns-table-unknown',
            target: 'nft',
            message: 'whether the table of LocalDNS is there is not known: nft did not answer',
            remedy:
              'On the host: nft list tables ip. If it has unbounded_localdns: nft delete table ip unbounded_localdns.',
          }),
        ]
      : []),
  ]
}

/** O-14: their scripts go with the agent's directory, and such a unit that fails keeps a worker from starting. */
const hostRoutesLeft = (view: HostView): Finding[] =>
  hostRouteUnits
    .filter((unit) => [unitFileOf(unit), ...hostRouteLinks(unit)].some((path) => view.node(path).type !== 'absent'))
    .map((unit) =>
      warning({
        check: 'host-routes-left',
        target: unit,
        message: `${unit} runs a script in ${configDirectory}, which a reset removes; each later start of a worker requires the unit`,
        remedy: `To remove it as well: -e remove_host_routes=true. Its routes stay until the next boot.`,
      }),
    )

const bpffsLeft = (view: HostView): Finding[] => {
  const mounts = mountsIn(view, [bpffs], mountsBelow)
  if (mounts.length === 0) return []
  return [fine({ check: 'bpffs-left', target: bpffs, message: `mounted until the next boot: ${mounts.join(', ')}` })]
}

/** A layout is kept as it is, and one that was on its way between the roots is no place to install into. */
const rootLeft = (state: HostRootState): Finding[] => {
  const way = wayOutOf(state)
  if (way === null) return []
  return [
    warning({
      check: 'layout-unsettled',
      target: state,
      message: `the agent's binaries lie as they lay (${state}), and nothing can be installed onto that`,
      remedy: way,
    }),
  ]
}
