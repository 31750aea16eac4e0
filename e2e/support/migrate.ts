// What the stories about moving the agent's root share: short durations, how a host is set up to be moved, how it is looked at.
import { expect } from 'vitest'
import type { HostStatus } from '../../src/tasks/agent/assess.ts'
import type { AgentBuild } from '../lab/agent/build.ts'
import { AGENT_UNIT, type LabHost, WORKER_UNIT } from '../lab/host.ts'
import type { Lab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { layoutOf, traces } from './agent-layout.ts'
import { type DroverEnd, drover } from './drover.ts'
import { faultsOfMoved, ROOT, type RootState, rootState } from './host-root.ts'
import { becomeLinked, makeReady } from './host-root-states.ts'
import { mainPid } from './units.ts'

/** Short ones (rule E7). */
export const quick = [
  ...['-e', 'host_root_since=v0.3.0', '-e', 'within_s=10', '-e', 'stable_s=1', '-e', 'second_pass_within_s=2'],
  ...['-e', 'worker_stable_s=1', '-e', 'worker_within_s=20'],
] as const

export const migrateArgs = (host: LabHost, ...more: readonly string[]): string[] => [
  ...['run', 'migrate', '-l', host.name],
  ...quick,
  ...more,
]

export const migrate = (lab: Lab, host: LabHost, ...more: readonly string[]): Promise<DroverEnd> =>
  drover(lab, migrateArgs(host, ...more))

/** Both know the new root. They only say that they would move: it is drover that does. */
const patient = {
  current: { version: 'v0.4.0' },
  lastGood: { version: 'v0.3.0' },
} as const satisfies Record<string, AgentBuild>

/** It moves by itself as soon as it may. */
const mover: AgentBuild = { version: 'v0.4.0', moves: true }
export const movers = { current: mover, lastGood: mover } as const

/** LINKED, ready to be moved, and running; stopped where it would move as soon as it starts. */
export const readyToMove = async (
  host: LabHost,
  slots: { current: AgentBuild; lastGood: AgentBuild } = patient,
): Promise<void> => {
  await becomeLinked(host, slots)
  await makeReady(host)
  if (slots.current.moves !== true) await host.must('systemctl start "$1"', [AGENT_UNIT])
}

/** An agent that moves by itself, ready to be moved, which runs and has not: it will at its next start. */
export const runsUnmoved = async (host: LabHost): Promise<void> => {
  const signal = '/etc/aks-flex-node/agent-upgrade-signal.json'
  await readyToMove(host, movers)
  await host.must('rm -f /run/lab-agent-ready; touch "$2"; systemctl start "$1"', [AGENT_UNIT, signal])
  await until(`the agent on ${host.name} to work`, 30_000, async () =>
    (await host.sh('[ -s /run/lab-agent-ready ]')).code === 0 ? true : undefined,
  )
  await host.must('rm "$1"', [signal])
}

/** A story starts an agent more often than its limit allows, and waits for none of its pauses. */
export const eagerStarts = (host: LabHost): Promise<string> =>
  host.must(
    `d=/etc/systemd/system/$1.d; mkdir -p "$d"
     printf '[Unit]\\nStartLimitIntervalSec=0\\n[Service]\\nRestartSec=1\\n' >"$d/92-story.conf"; systemctl daemon-reload`,
    [AGENT_UNIT],
  )

/** A row of `drover status -o json`, whole. */
export const hostStatus = async (lab: Lab, host: LabHost): Promise<HostStatus> => {
  const { stdout, stderr } = await drover(lab, ['status', '-l', host.name, '-o', 'json'])
  const [row] = (JSON.parse(stdout || '{"hosts":[]}') as { hosts: { status: HostStatus | null }[] }).hosts
  if (row?.status == null) throw new Error(`no status of ${host.name}: ${stdout}${stderr}`)
  return row.status
}

/** MOVED, whole, and nothing left of how it came about (11.28). */
export const expectMoved = async (host: LabHost, where = host.name): Promise<RootState> => {
  const seen = await rootState(host)
  expect(faultsOfMoved(seen), where).toEqual([])
  expect(await traces(host), where).toBe('')
  expect((await layoutOf(host)).root, where).toBe(ROOT)
  return seen
}

/** Nothing of drover's is being done on the host any more. */
export const untilQuiet = (host: LabHost, timeoutMs: number): Promise<unknown> =>
  until(`the apply on ${host.name} to be over`, timeoutMs, async () =>
    (await host.sh('systemctl is-active --quiet drover-apply.service')).code === 0 ? undefined : true,
  )

export const leaderOf = (host: LabHost): Promise<string> => mainPid(host, WORKER_UNIT)

/** Side by side: they wait more than they work. All have ended when it returns. */
export const each = async (
  hosts: ReadonlyMap<string, LabHost>,
  check: (host: LabHost) => Promise<unknown>,
): Promise<void> => {
  const ended = await Promise.allSettled([...hosts.values()].map((host) => check(host)))
  const [failed] = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (failed !== undefined) throw failed
}
