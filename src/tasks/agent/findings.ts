import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import type { Finding } from '../task.ts'
import { configFacts } from './config.ts'
import { warning } from './finding.ts'
import { firstBootLeft, firstBootFacts } from './first-boot.ts'
import { offline } from './offline.ts'
import { configFile, firstBootDirectory, upgradeSignalFile } from './paths.ts'
import { keyValues } from './probe-answer.ts'
import { readUpgradeSignal, upgradeSignalFacts } from './upgrade-signal.ts'
import { isRoot } from './visible.ts'

/** An upgrade's verdict comes within six minutes (domain.md 7.6); after ten nobody is going to give it. */
const staleAfterS = 600

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
          remedy: `Remove ${firstBootDirectory} once nobody needs it.`,
        }),
      ]
    : []

const selinuxDenials = (view: HostView): Finding[] => {
  if (view.os.selinux === 'disabled') return []
  const count = Number(keyValues(view.probe('selinux-denials').stdout).get('denials') ?? 0)
  if (!(count > 0)) return []
  return [
    warning({
      check: 'selinux-denials',
      target: 'SELinux',
      message: `${count} ${count === 1 ? 'denial' : 'denials'} since yesterday ${count === 1 ? 'names' : 'name'} the agent`,
      remedy: 'Look at them with `ausearch -m AVC -ts yesterday`, and at the labels with `restorecon -nvR /opt/unbounded/agent`.',
    }),
  ]
}

const pendingUpgrade = (view: HostView): Finding[] => {
  const signal = readUpgradeSignal(view)
  if (signal === null) return []
  const operation = signal.operation === null ? 'an upgrade' : `the upgrade ${signal.operation}`
  const minutes = Math.floor(signal.ageS / 60)
  const stale = signal.ageS >= staleAfterS
  return [
    ...(stale
      ? [
          warning({
            check: 'upgrade-signal-stale',
            target: upgradeSignalFile,
            message: `the verdict on ${operation} has been pending for ${minutes} minutes`,
            remedy: `${waiting} Never delete the file.`,
          }),
        ]
      : []),
    ...(signal.recoveryRequired
      ? [
          warning({
            check: 'recovery-required',
            target: upgradeSignalFile,
            message: `${operation} failed and the agent asks for a recovery`,
            remedy: stale ? waiting : 'Wait: the recovery unit runs by itself. After ten minutes it can be run by hand.',
          }),
        ]
      : []),
  ]
}

const waiting = 'See why the agent cannot publish it, or run `recover-agent-upgrade` of the last-good binary.'
