import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import type { Finding } from '../task.ts'
import { configFacts } from './config.ts'
import { warning } from './finding.ts'
import { firstBootFacts, firstBootLeft } from './first-boot.ts'
import { offline } from './offline.ts'
import { configFile, firstBootDirectory } from './paths.ts'
import { pendingUpgrade } from './pending-upgrade.ts'
import { keyValues } from './probe-answer.ts'
import { upgradeSignalFacts } from './upgrade-signal.ts'
import { isRoot } from './visible.ts'

export const findingsFacts = (): Fact[] => [
  ...firstBootFacts(),
  ...upgradeSignalFacts(),
  ...configFacts(),
  { kind: 'probe', name: 'selinux-denials' },
]

/** What status and preflight report beside their own subject (W6, W8): only what is worth a warning. */
export const deploymentFindings = (view: HostView, host: Host): readonly Finding[] => [
  ...offlineDisagreement(view, host),
  ...firstBootSecrets(view),
  ...selinuxDenials(view),
  ...(isRoot(view) ? pendingUpgrade(view) : []),
]

const offlineDisagreement = (view: HostView, host: Host): Finding[] => {
  const { disagreement } = offline(view, host)
  if (disagreement === undefined) return []
  return [
    warning({
      check: 'offline-disagreement',
      target: configFile,
      message: disagreement,
      remedy: 'Correct `offline` of the host in the inventory, or the config.json of the host.',
    }),
  ]
}

const firstBootSecrets = (view: HostView): Finding[] =>
  firstBootLeft(view)
    ? [
        warning({
          check: 'first-boot-secrets-left',
          target: firstBootDirectory,
          message: 'the agent is installed and the files of its first boot, secrets among them, are still there',
          remedy: `drover run first-boot-secrets removes ${firstBootDirectory}, once nobody needs it.`,
        }),
      ]
    : []

const unknownDenials = warning({
  check: 'selinux-denials',
  target: 'SELinux',
  message: 'whether denials name the agent is not known: the audit log could not be read to its end',
  remedy: 'Look with `ausearch -m AVC -ts yesterday`, or in the journal.',
})

const selinuxDenials = (view: HostView): Finding[] => {
  if (view.os.selinux === 'disabled') return []
  const { code, stdout } = view.probe('selinux-denials')
  const answer = keyValues(stdout)
  const count = Number(answer.get('denials') ?? 0)
  const isWhole = code === 0 && answer.has('denials') && !answer.has('incomplete')
  if (!isWhole && count === 0) return isRoot(view) ? [unknownDenials] : []
  if (count === 0) return []
  return [
    warning({
      check: 'selinux-denials',
      target: 'SELinux',
      message: `${count} ${count === 1 ? 'denial' : 'denials'} since yesterday ${count === 1 ? 'names' : 'name'} the agent`,
      remedy:
        'Look at them with `ausearch -m AVC -ts yesterday`, and at the labels with `restorecon -nvR /opt/unbounded/agent`.',
    }),
  ]
}
