import type { HostView } from '../../facts/view.ts'
import { fault, fine, warning } from '../agent/finding.ts'
import { agentUnit } from '../agent/names.ts'
import { agentBinary, layoutEntry, machineBinary, upgradeSignalFile } from '../agent/paths.ts'
import type { Finding } from '../task.ts'
import { gonePaths } from './gone-paths.ts'
import { type Ready, startsCurrent } from './ready.ts'
import { isStopped } from './restart.ts'
import { workerBinary } from './worker-binary.ts'

/** What holds on every host whose agent is well (domain.md 7.8). */
export const invariants = (view: HostView, ready: Ready): readonly Finding[] => [
  ...unitUp(ready),
  ...links(view, ready),
  ...executable(view, ready),
  ...inWorker(view, ready),
  ...pending(ready),
  ...gonePaths(view),
]

const unitUp = (ready: Ready): Finding[] => {
  const { activeState, result } = ready.service
  const seen = { check: 'agent-active', target: agentUnit }
  if (['active', 'reloading', 'refreshing'].includes(activeState)) return [fine({ ...seen, message: 'the agent runs' })]
  if (isStopped(ready)) return [fine({ ...seen, message: 'the agent is stopped, as on purpose' })]
  return [
    fault({
      ...seen,
      message: `the agent is ${activeState} (${result})`,
      remedy: `Look at journalctl -u ${agentUnit}. To go back to the release before: drover run rollback.`,
    }),
  ]
}

const links = (view: HostView, ready: Ready): Finding[] => {
  const { root, lastGood, isPlain } = ready.layout
  if (isPlain) return []
  const [bin, current] = [agentBinary(root), layoutEntry(root, 'current')]
  const lastGoodPath = layoutEntry(root, 'last-good')
  const goodSlot = lastGood === null ? null : view.node(layoutEntry(root, lastGood))
  return [
    ...(view.target(bin).type === 'file' && view.realPath(bin) === view.realPath(current)
      ? []
      : [
          fault({
            check: 'agent-links',
            target: bin,
            message: `${bin} does not lead to what ${current} leads to`,
            remedy: again,
          }),
        ]),
    ...(goodSlot?.type === 'file' && (goodSlot.mode & 0o111) !== 0
      ? []
      : [
          fault({
            check: 'last-good',
            target: lastGoodPath,
            message: `${lastGoodPath} leads to no binary that could be run, so the agent could not be recovered`,
            remedy: 'Upgrade to another release: that points last-good at what runs now.',
          }),
        ]),
  ]
}

const executable = (view: HostView, ready: Ready): Finding[] => {
  const { layout, service, startsPath } = ready
  if (layout.isPlain) return []
  const current = layoutEntry(layout.root, 'current')
  const exe = service.exe
  return [
    ...(startsCurrent(ready)
      ? []
      : [
          fault({
            check: 'agent-exec-start',
            target: agentUnit,
            message: `the unit runs ${startsPath}, not ${current}`,
            remedy: again,
          }),
        ]),
    ...(exe === '' || exe === view.realPath(current)
      ? []
      : [
          fault({
            check: 'agent-exe',
            target: agentUnit,
            message: `the agent runs ${exe}, and ${current} leads to ${view.realPath(current)}`,
            remedy: `If what ${current} leads to is wanted: systemctl restart ${agentUnit}.`,
          }),
        ]),
  ]
}

const inWorker = (view: HostView, { activeMachine, layout }: Ready): Finding[] => {
  const there = workerBinary(view, activeMachine)
  if (there === null || there.sha256 === layout.currentSha256) return []
  return [
    fault({
      check: 'worker-binary',
      target: machineBinary(activeMachine),
      message: `the agent's binary in the active worker is ${there.sha256 === null ? 'missing' : 'another than the one that runs'}, so kubelet there may get no credentials`,
      remedy: again,
    }),
  ]
}

/** O-16: it is said, and never taken for a fault of the agent: the API server may be out of reach. */
const pending = ({ deployment: { signal } }: Ready): Finding[] =>
  signal === null
    ? []
    : [
        warning({
          check: 'upgrade-signal',
          target: upgradeSignalFile,
          message: `the verdict on ${signal.operation ?? 'an upgrade that the cluster asked for'} has been pending for ${Math.floor(signal.ageS / 60)} minutes`,
          remedy:
            'It comes within six minutes, or not at all where the agent cannot reach the API server. Never delete the file.',
        }),
      ]

const again = 'Run upgrade with the release that is installed: it puts right what is not as it should be.'
