import type { Change } from '../../src/changes/change.ts'
import { summaryOf } from '../../src/changes/describe.ts'
import { expectationsOf } from '../../src/changes/expect.ts'
import { predict } from '../../src/changes/predict.ts'
import { type Before, undoOf } from '../../src/changes/undo-of.ts'
import type { Fact } from '../../src/facts/fact.ts'
import { questionFor } from '../../src/facts/question.ts'
import type { HostState } from '../../src/facts/state.ts'
import type { Host } from '../../src/inventory/host.ts'
import { applyHost } from '../../src/runner/apply-host.ts'
import { inspectHost } from '../../src/runner/inspect-host.ts'
import type { Lane } from '../../src/runner/lane.ts'
import type { PlannedChange } from '../../src/runner/plan.ts'
import type { Run } from '../../src/runner/run.ts'
import { noWatch } from '../../src/runner/stall.ts'
import { createSsh2Transport } from '../../src/transport/ssh2/ssh2-transport.ts'
import type { LabHost } from '../lab/host.ts'
import type { Lab } from '../lab/lab.ts'

/** The core by itself on one lab host, below playbooks and reports: read facts, apply changes. */
export interface CoreHost {
  inspect(facts: readonly Fact[]): Promise<HostState>
  /** Resolves to the id of the run that it was. */
  apply(state: HostState, changes: readonly Change[]): Promise<string>
  close(): Promise<void>
}

export const inventoryHost = (lab: Lab, host: LabHost): Host => ({
  name: host.name,
  address: host.address,
  port: 22,
  user: host.user,
  identityFiles: [lab.key.file],
  become: host.user !== 'root',
  jump: [],
  variant: 'host',
  offline: false,
  knownHostsFiles: [lab.knownHostsFile],
  hostKeyPolicy: 'strict',
  groups: ['all'],
  vars: {},
})

const never = new AbortController().signal
let runs = 0

export const openCore = async (lab: Lab, labHost: LabHost): Promise<CoreHost> => {
  const transport = createSsh2Transport({
    deadlines: { resolveMs: 5000, connectMs: 10_000, handshakeMs: 20_000, authMs: 20_000, channelMs: 10_000 },
    passphrase: () => undefined,
  })
  const host = inventoryHost(lab, labHost)
  const connection = await transport.connect(host)
  const lane = (): Lane => {
    runs += 1
    return {
      run: {
        id: `core-${process.pid}-${runs}`,
        operator: 'e2e@lab',
        reason: null,
        deadlines: { inspectMs: 60_000, applyGraceMs: 20_000 },
        hardStop: never,
        softStop: never,
        sink: () => undefined,
      } as unknown as Run,
      play: { host, steps: [] },
      connection,
      reconnect: (why) => Promise.reject(why),
      renew: () => Promise.reject(new Error('this connection is the only one')),
      become: host.become ? { method: 'sudo' } : null,
      watch: noWatch,
      exec: (_verb, how) => how(),
    }
  }
  return {
    inspect: (facts) => inspectHost(lane(), 'inspect', questionFor(facts)),
    apply: async (state, changes) => {
      const mine = lane()
      await applyHost(mine, plannedChanges(state, changes), { os: state.os, ageMs: 0 }, () => undefined)
      await inspectHost(mine, 'verify', questionFor([]), {
        action: 'free',
        run: mine.run.id,
        owner: mine.run.operator,
        ttlS: 60,
      })
      return mine.run.id
    },
    close: async () => {
      await connection.close()
      await transport.close()
    },
  }
}

/** Each with what it expects of the host as the changes before it leave it, and with what undoes it, as the planner does. */
const plannedChanges = (state: HostState, changes: readonly Change[]): PlannedChange[] => {
  const before: Before[] = []
  let predicted = state
  for (const change of changes) {
    before.push({ change, state: predicted })
    predicted = predict(predicted, change)
  }
  return before.map((each, index) => {
    const undo = each.change.kind === 'arm' ? { undo: undoOf(before.slice(index + 1)) } : {}
    const change = { ...each.change, ...undo }
    return { change, expects: expectationsOf(each.state, change), summary: summaryOf(change) }
  })
}
