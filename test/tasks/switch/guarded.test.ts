import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Change } from '../../../src/changes/change.ts'
import { predict } from '../../../src/changes/predict.ts'
import type { Undo } from '../../../src/changes/undo.ts'
import type { HostState } from '../../../src/facts/state.ts'
import { canonical, lookUp } from '../../../src/facts/tree.ts'
import { Unknown } from '../../../src/facts/unknown.ts'
import { planHost } from '../../../src/runner/plan.ts'
import { Secret } from '../../../src/secret.ts'
import {
  agentUnitFile,
  hostRoots,
  LEGACY,
  ROOT,
  recoveryScript,
  recoveryUnitFile,
} from '../../../src/tasks/agent/paths.ts'
import { agentConfigured } from '../../../src/tasks/agent-configured.ts'
import { agentRolledBack } from '../../../src/tasks/agent-rolled-back.ts'
import { agentUpgraded } from '../../../src/tasks/agent-upgraded.ts'
import type { Task } from '../../../src/tasks/task.ts'
import { aHost } from '../deployed.ts'
import { paramsOf, stateFor } from '../general/planning.ts'
import type { HostLiteral } from '../host-state.ts'
import { guardedHosts } from './guarded-hosts.ts'
import { upgradeParams } from './upgrading.ts'

const configuration = {
  config: { agent: { logLevel: 'debug' } },
  secret_files: [{ path: '/etc/aks-flex-node/credentials/sp-client-secret', content: new Secret('s3cret') }],
}

const switching: readonly (readonly [task: Task, params: unknown])[] = [
  [agentUpgraded as Task, upgradeParams()],
  [agentRolledBack as Task, paramsOf(agentRolledBack, { host_root_since: 'v0.3.0' })],
  [agentConfigured as Task, paramsOf(agentConfigured, configuration)],
]

/** What the runner makes of it: the changes with the undo that arming them brings along. */
const planOf = (task: Task, params: unknown, literal: HostLiteral) => {
  const state = stateFor(task, params, literal)
  const { steps } = planHost(
    { host: aHost(), steps: [{ name: 's', task: task.name, params, when: null }] },
    new Map([[task.name, task]]),
    state,
  )
  const [step] = steps
  return { state, status: step?.status, error: step?.error, changes: step?.changes.map(({ change }) => change) ?? [] }
}

/** The host before the first change and after each. */
const prefixes = (state: HostState, changes: readonly Change[]): HostState[] => {
  const states = [state]
  for (const change of changes) states.push(predict(states.at(-1) as HostState, change))
  return states
}

/** As the host itself says what lies at a path. */
const lies = ({ tree }: HostState, path: string): string => {
  const node = lookUp(tree, path)
  if (node === undefined || node instanceof Unknown) return 'unknown'
  if (node.type === 'symlink') return `link:${node.target}`
  return node.type === 'file' ? `file:${String(node.sha256)}` : node.type
}

const was = (undo: Undo): string => {
  if (undo.kind === 'link') return undo.was === null ? 'absent' : `link:${undo.was}`
  return undo.kind === 'file' && undo.wasSha256 !== null ? `file:${undo.wasSha256}` : 'absent'
}
const ours = (undo: Undo): string => {
  if (undo.kind === 'link') return undo.ours === null ? 'absent' : `link:${undo.ours}`
  return undo.kind === 'file' && undo.oursSha256 !== null ? `file:${undo.oursSha256}` : 'absent'
}

describe.each(switching)('$name, on every host with an agent', (task, params) => {
  const check = (holds: (plan: ReturnType<typeof planOf>) => void): void =>
    fc.assert(
      fc.property(guardedHosts, (literal) => holds(planOf(task, params, literal))),
      { numRuns: 100 },
    )

  test('is planned as a whole or refused, and never waits for what only its own changes make known', () => {
    const seen = new Set<string>()
    check(({ status, changes }) => {
      seen.add(`${status} ${changes.length > 0}`)
      expect(status).not.toBe('unknown')
    })
    expect(seen).toContain('planned true')
  })

  test('takes the lock first, and changes nothing that the agent runs before the rollback is armed', () => {
    check(({ changes }) => {
      if (changes.length === 0) return
      expect(changes[0]).toMatchObject({ kind: 'hold', lock: '/run/aks-flex-node-agent-upgrade.lock' })
      const arm = changes.findIndex(({ kind }) => kind === 'arm')
      expect(arm).toBeGreaterThan(0)
      for (const change of changes.slice(0, arm)) {
        expect(change).not.toMatchObject({ kind: 'systemctl', verb: expect.stringMatching(/^(start|stop|restart)$/) })
      }
    })
  })

  test('has an undo for all that it guards, and from wherever it is cut that leads back to what was', () => {
    check(({ state, changes }) => {
      const at = changes.findIndex(({ kind }) => kind === 'arm')
      const arm = changes[at]
      if (arm?.kind !== 'arm') return
      const undo = arm.undo ?? []
      const states = prefixes(state, changes)
      const before = states[at + 1] as HostState
      const restart = changes.findIndex(
        (change) => change.kind === 'systemctl' && change.verb !== 'daemon-reload' && change.verb !== 'reset-failed',
      )
      const paths = [...new Set(undo.flatMap((one) => ('path' in one ? [one.path] : [])))]
      for (const path of paths) {
        const same = undo.filter((one) => 'path' in one && one.path === path)
        const known = same.flatMap((one) => [was(one), ours(one)])
        // The last of them is of the first change, and so what was there before all of them.
        expect(was(same.at(-1) as Undo)).toBe(lies(before, path))
        for (const cut of states.slice(at + 1, restart < 0 ? undefined : restart + 1))
          expect(known).toContain(lies(cut, path))
      }
      // Whatever differs at any cut is among what is undone.
      const touched = changes
        .slice(at + 1)
        .flatMap((change) => ('path' in change && change.kind !== 'directory' ? [change.path] : []))
      // And the texts that a started agent writes anew by itself.
      const anew = [agentUnitFile, recoveryUnitFile, ...hostRoots.map(recoveryScript)]
      const isAnew = (path: string): boolean =>
        restart >= 0 && anew.includes(path) && lies(before, path).startsWith('file:')
      const named = changes.flatMap(({ spoils = [] }) => spoils.map((key) => key.replace(/^path:/, '')))
      expect(paths.sort()).toEqual([...new Set([...touched, ...named.filter(isAnew)])].sort())
    })
  })

  test('starts the agent only where it ran or had failed, and no restart comes without a proof', () => {
    check(({ state, changes }) => {
      const active = state.units.get('aks-flex-node-agent.service')?.properties.ActiveState
      const starts = changes.flatMap((change) =>
        change.kind === 'systemctl' && ['start', 'restart'].includes(change.verb) ? [change.verb] : [],
      )
      if (active === 'inactive') expect(starts).toEqual([])
      if (starts.length === 0) return
      expect(starts).toEqual([active === 'failed' ? 'start' : 'restart'])
      expect(changes.at(-1)?.kind).toBe('await')
      expect(changes).toContainEqual(
        expect.objectContaining({ condition: expect.objectContaining({ is: 'running-from' }) }),
      )
    })
  })

  test('says by name which files a started agent writes anew, and knows how they were', () => {
    let starts = 0
    check(({ state, changes }) => {
      const start = changes.find(
        ({ kind, ...rest }) => kind === 'systemctl' && 'verb' in rest && /start$/.test(rest.verb),
      )
      if (start === undefined) return
      starts += 1
      const root = lies(state, ROOT) === 'directory' ? ROOT : LEGACY
      for (const path of [agentUnitFile, recoveryUnitFile, recoveryScript(root)]) {
        expect(start.spoils).toContain(`path:${path}`)
        expect(lies(state, path)).toMatch(/^(absent|file:[0-9a-f]{64})$/)
      }
    })
    expect(starts).toBeGreaterThan(0)
  })

  test('touches no worker', () => {
    check(({ changes }) => {
      for (const change of changes)
        if (change.kind === 'systemctl' && 'unit' in change) expect(change.unit).toBe('aks-flex-node-agent.service')
    })
  })
})

test('no prefix of an upgrade leaves last-good on the candidate: before its slot is touched, last-good is on what runs (U1)', () => {
  const entry = (state: HostState, name: string): string =>
    `${lookUp(state.tree, `${ROOT}/lib`) !== undefined && lies(state, ROOT) === 'directory' ? ROOT : LEGACY}/lib/aks-flex-node/aks-flex-node-${name}`
  let switched = 0
  fc.assert(
    fc.property(guardedHosts, (literal) => {
      const { state, changes } = planOf(agentUpgraded as Task, upgradeParams(), literal)
      const root = entry(state, 'x').slice(0, -1)
      const target = (at: HostState, name: string) => canonical(at.tree, `${root}${name}`, true)
      const moves = changes.filter((change) => change.kind === 'link' && change.path === `${root}current`)
      const last = moves.at(-1)
      if (last?.kind !== 'link') return
      switched += 1
      const states = prefixes(state, changes)
      const first = changes.findIndex(
        (change) => 'path' in change && change.path === last.target && change.kind !== 'link',
      )
      const from = first < 0 ? changes.indexOf(last) : first
      const ran = target(states[from] as HostState, 'current')
      const until = changes.findIndex((change) => change.kind === 'systemctl' && /^(re)?start$/.test(change.verb))
      for (const at of states.slice(from, until < 0 ? undefined : until + 1)) {
        expect(target(at, 'last-good')).toBe(ran)
        expect(target(at, 'last-good')).not.toBe(last.target)
      }
    }),
    { numRuns: 200 },
  )
  expect(switched).toBeGreaterThan(20)
})
