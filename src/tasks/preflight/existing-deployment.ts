import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { fine, warning } from '../agent/finding.ts'
import { machines } from '../agent/names.ts'
import { agentUnitFile, hostRoots, recoveryScript, recoveryUnitFile, unitDirectory } from '../agent/paths.ts'
import { isVisible } from '../agent/visible.ts'
import { recoveryScriptFile, recoveryUnitFile as recoveryUnitText } from '../units/recovery.ts'
import { type Check, faultUnlessDeployed } from './check.ts'

const check = 'existing-deployment'
const target = 'existing deployment'

/** What a deployment leaves (domain.md 1.4). machined keeps a file for each registered machine. */
const traces: readonly string[] = [
  agentUnitFile,
  recoveryUnitFile,
  ...hostRoots.map(recoveryScript),
  ...machines.flatMap((machine) => [
    `/run/systemd/machines/${machine}`,
    `/var/lib/machines/${machine}`,
    `/etc/systemd/nspawn/${machine}.nspawn`,
    `${unitDirectory}/systemd-nspawn@${machine}.service.d`,
    `/run/bpffs/${machine}`,
    `/etc/unbounded/agent/${machine}-nspawn-lifecycle.json`,
  ]),
]

export const existingDeployment: Check = {
  name: check,
  facts: () => [
    ...traces.map((path): Fact => ({ kind: 'path', path })),
    ...halfInstalled.map((path): Fact => ({ kind: 'path', path, content: 65_536 })),
  ],
  evaluate: (view, context) => {
    const all = traces.filter((path) => isVisible(view, path) && view.node(path).type !== 'absent')
    const found = all.filter((path) => context.deployed || !isLeftByUs(view, path))
    if (found.length === 0 && all.length > 0) return [cutInstall(all)]
    if (found.length > 0) {
      return [
        faultUnlessDeployed(context, {
          check,
          target,
          message: `the host holds a deployment: ${found.join(', ')}`,
          remedy: 'Reset the host before it is bootstrapped again.',
        }),
      ]
    }
    return [nothingFound(view)]
  },
}

/** What drover's own install writes before the agent's unit: cut there, it left no deployment. */
const halfInstalled: readonly string[] = [recoveryUnitFile, ...hostRoots.map(recoveryScript)]
const ownTexts = hostRoots.flatMap((root) => [recoveryUnitText(root), recoveryScriptFile(root)])

/** To the byte, and under either root: one of them may be a link to the other. */
const isLeftByUs = (view: HostView, path: string): boolean =>
  halfInstalled.includes(path) && ownTexts.includes(view.text(path) ?? '')

const cutInstall = (left: readonly string[]) =>
  warning({
    check,
    target,
    message: `an install by drover was cut: ${left.join(', ')}`,
    remedy: 'Nothing to do: install goes on with it.',
  })

const nothingFound = (view: HostView) => {
  const unseen = traces.filter((path) => !isVisible(view, path))
  if (unseen.length === 0) return fine({ check, target, message: 'no deployment on the host' })
  return warning({
    check,
    target,
    message: `nothing found, but only root can look at ${unseen.join(', ')}`,
    remedy: 'Connect as root, or use --become (-b).',
  })
}
