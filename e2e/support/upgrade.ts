// What the stories about switching an agent share: short durations, and how a host looks in them.
import { expect } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type AgentLayout, faultsOf, layoutOf, traces } from './agent-layout.ts'
import type { DroverEnd } from './drover.ts'

/** Short ones (rule E7); `-e` wins over what comes before it. */
export const short = [
  ...['-e', 'stable_s=3', '-e', 'within_s=8', '-e', 'confirm_within_s=20'],
  ...['-e', 'health_within_s=3', '-e', 'worker_stable_s=1', '-e', 'worker_within_s=20'],
] as const

/** A health check of the user's own: the stand-in agent says so when it is ready. */
export const readyCommand = (version: string): string[] => [
  '-e',
  JSON.stringify({ health_command: ['grep', '-qx', version, '/run/lab-agent-ready'], confirm_within_s: 40 }),
]

export const expectCode = (run: DroverEnd, code: number): void =>
  expect(run.code, `${run.stdout}\n${run.stderr}`).toBe(code)

/** A whole agent, which runs that release, and nothing left of how it came about. */
export const expectRuns = async (host: LabHost, version: string, where = host.name): Promise<AgentLayout> => {
  const seen = await layoutOf(host)
  expect(faultsOf(seen), where).toEqual([])
  expect(seen.version, where).toBe(version)
  expect(await traces(host), where).toBe('')
  return seen
}

/** What a host looks like when it is back: another process, and both links on the slot that ran before (U1). */
export const isBack = (seen: AgentLayout, before: AgentLayout): void => {
  const { pid: _pid, ...rest } = before
  expect(seen).toMatchObject({ ...rest, lastGood: before.current, lastGoodVersion: before.version })
}

export const blockedAs = (run: DroverEnd, host: LabHost, code: string): string => {
  expectCode(run, 2)
  expect(run.host(host.name), run.stdout).toMatchObject({ outcome: 'blocked', changes: 0, error: { code } })
  return run.host(host.name).error?.message ?? ''
}

/** As if the host had not heard of a dead run for minutes: nobody waits for its lease to run out. */
export const age = (host: LabHost): Promise<string> =>
  host.must('[ ! -d /run/drover ] || find /run/drover -exec touch -d "-10 minutes" {} +')

/** The kernel's word for "somebody holds the agent's lock": a unit of the story's own. */
export const holdLock = (host: LabHost): Promise<string> =>
  host.must(
    `systemd-run --quiet --collect --unit=story-holder flock /run/aks-flex-node-agent-upgrade.lock sleep infinity
     until ! flock -n /run/aks-flex-node-agent-upgrade.lock true; do sleep 0.05; done`,
  )
export const freeLock = (host: LabHost): Promise<string> => host.must('systemctl stop story-holder.service')
