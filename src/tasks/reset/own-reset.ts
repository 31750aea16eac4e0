import type { Change, Expectation } from '../../changes/change.ts'
import { probeKey } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit } from '../agent/names.ts'
import { activationLock, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'
import { asSeen } from '../move/lock.ts'
import { hostRouteUnits, signsOfDeployment, units } from './belongings.ts'
import { mountsBelow } from './facts.ts'
import { networkKey } from './network.ts'

/** Long enough for one look under the lock. */
const heldS = 60

/**
 * O-4: nobody moves or activates anything while drover looks once more at what the plan took for granted. Then the lock is let
 * go, since the agent's own reset may want it.
 */
export const ownReset = (view: HostView, binary: string, timeoutS: number): Change[] => {
  const seen = stillSo(view)
  return [
    { kind: 'hold', lock: activationLock, forS: heldS },
    { kind: 'release', lock: activationLock, relies: seen },
    {
      kind: 'run',
      argv: [binary, 'reset'],
      timeoutMs: timeoutS * 1000,
      relies: seen,
      spoils: touched,
      failure: failed(`${binary} reset ended with an error, or not within ${timeoutS} s.`),
    },
    // Stopped half way it ends with 0 as well (O-11).
    ...signsOfDeployment
      .filter((path) => view.node(path).type !== 'absent')
      .map(
        (path): Change => ({
          kind: 'await',
          condition: { path, is: 'gone' },
          withinMs: 0,
          stableMs: 0,
          failure: failed(`${binary} reset ended well, and ${path} is still there.`),
        }),
      ),
  ]
}

const stillSo = (view: HostView): Expectation[] => [
  { unit: agentUnit, property: 'ActiveState', value: view.unit(agentUnit).get('ActiveState') },
  ...asSeen(view, [ROOT, movingMark, stagingRoot]),
]

const failed = (message: string): NonNullable<Change['failure']> => ({
  code: 'reset-failed',
  message: `${message} The agent is stopped, and what is gone is gone.`,
  remedy:
    'Put right what it says and run again, which goes on from here. Or sweep the host without it: -e agent_reset=false, or --without-agent-reset.',
})

/** Everything that domain.md 8.1 says it stops, removes or deletes. */
const touched: readonly string[] = [
  ...[
    '/etc/systemd/system',
    '/etc/systemd/nspawn',
    '/etc/unbounded',
    '/etc/aks-flex-node',
    '/opt/unbounded',
    '/usr/local/bin',
    '/usr/local/lib',
    '/usr/local/libexec',
    '/var/lib/machines',
    '/var/log/aks-flex-node',
  ].map((path) => `path:${path}`),
  ...[...units, ...hostRouteUnits].map((unit) => `unit:${unit}`),
  networkKey,
  probeKey('mounts-below', mountsBelow),
]
