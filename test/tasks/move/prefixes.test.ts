import fc from 'fast-check'
import { expect, test } from 'vitest'
import { predict } from '../../../src/changes/predict.ts'
import type { HostState } from '../../../src/facts/state.ts'
import { type HostView, viewOf } from '../../../src/facts/view.ts'
import { type HostRootState, hostRootRow, hostRootState } from '../../../src/tasks/agent/host-root.ts'
import { hostRootSigns } from '../../../src/tasks/agent/host-root-signs.ts'
import { hostRoots, LEGACY, ROOT, stagingRoot } from '../../../src/tasks/agent/paths.ts'
import { hostRootLinked } from '../../../src/tasks/host-root-linked.ts'
import { hostRootMoved } from '../../../src/tasks/host-root-moved.ts'
import { hostRootSettled } from '../../../src/tasks/host-root-settled.ts'
import { hostRootUnlinked } from '../../../src/tasks/host-root-unlinked.ts'
import { moveFacts } from '../../../src/tasks/move/facts.ts'
import { isWhole } from '../../../src/tasks/move/movable.ts'
import type { Task } from '../../../src/tasks/task.ts'
import { aHost } from '../deployed.ts'
import { paramsOf, planOn } from '../general/planning.ts'
import { type HostLiteral, hostState, type PathLiteral } from '../host-state.ts'
import {
  agent,
  entry,
  helperOf,
  legacy,
  linked,
  localDns,
  localDnsOf,
  moving1,
  moving2,
  override,
  regenerate,
  running,
  silent,
  stagingHost,
  swapGap,
  unitsOn,
} from './moving.ts'

const unitFile = '/etc/systemd/system/aks-flex-node-agent.service'
const recoveryUnit = '/etc/systemd/system/aks-flex-node-agent-recovery.service'
const since = { host_root_since: 'v0.3.0' }
const stopped = { [agent]: running('inactive', LEGACY, LEGACY) }

/** Where MainPID's file goes along with a rename is nobody's business here: the names of 6.1 are asked of the disk. */
const rootState = (state: HostState): HostRootState => hostRootState(hostRootSigns(viewOf(state)))

/** What a start of the agent would run, by the file on disk and by what systemd has loaded. */
const startable = (view: HostView): void => {
  const onDisk = /^ExecStart=(\S+)/m.exec(view.text(unitFile) ?? '')?.[1] ?? ''
  const loaded = /path=(\S+)/.exec(view.unit(agent).get('ExecStart'))?.[1] ?? ''
  for (const path of [onDisk, loaded]) {
    expect(view.target(path), path).toMatchObject({ type: 'file', mode: 0o755 })
    const root = hostRoots.find((each) => view.realPath(path).startsWith(`${view.realPath(each)}/`))
    expect(root, path).toBeDefined()
    expect(isWhole(view, root ?? ROOT), `${root} is whole`).toBe(true)
  }
}

interface Cut {
  readonly task: Task<never>
  readonly host: HostLiteral
  readonly input?: Record<string, string>
  /** The states passed through, each once. */
  readonly by: readonly HostRootState[]
}

const as = (task: unknown): Task<never> => task as Task<never>
const cuts: Readonly<Record<string, Cut>> = {
  'a link': { task: as(hostRootLinked), host: legacy(), by: ['LEGACY', 'LINKED'] },
  'a link after a cut swap': { task: as(hostRootLinked), host: swapGap(), by: ['SWAP-GAP', 'STAGING'] },
  'a link to nothing': {
    task: as(hostRootLinked),
    host: { paths: { [ROOT]: { link: LEGACY } } },
    by: ['LINK-ORPHAN', 'ABSENT'],
  },
  'the first pass': {
    task: as(hostRootMoved),
    host: linked(),
    input: since,
    by: ['LINKED', 'STAGING', 'SWAP-GAP', 'MOVING-1'],
  },
  'the first pass over an old copy': {
    task: as(hostRootMoved),
    host: stagingHost(),
    input: since,
    by: ['STAGING', 'LINKED', 'STAGING', 'SWAP-GAP', 'MOVING-1'],
  },
  'the first pass of an agent that is stopped': {
    task: as(hostRootMoved),
    host: linked({ units: stopped }),
    input: since,
    by: ['LINKED', 'STAGING', 'SWAP-GAP', 'MOVING-1'],
  },
  'the rest of the first pass': { task: as(hostRootMoved), host: moving1(), by: ['MOVING-1'] },
  'the second pass': { task: as(hostRootSettled), host: moving2(), by: ['MOVING-2', 'MOVED'] },
  'the second pass of an agent that is stopped': {
    task: as(hostRootSettled),
    host: moving2({ units: { [agent]: running('inactive', ROOT, ROOT) } }),
    by: ['MOVING-1', 'MOVED'],
  },
  'putting back a copy that does not run': {
    task: as(hostRootMoved),
    host: silent(moving1(), entry(ROOT, 'current')),
    by: ['MOVING-1', 'SWAP-GAP', 'STAGING', 'LINKED'],
  },
  'putting back a copy that the units name already': {
    task: as(hostRootMoved),
    host: silent(
      moving1({ paths: unitsOn(ROOT), units: { [agent]: running('activating', ROOT, ROOT) } }),
      entry(ROOT, 'current'),
    ),
    by: ['MOVING-1', 'SWAP-GAP', 'STAGING', 'LINKED'],
  },
  'removing a copy that does not run': {
    task: as(hostRootMoved),
    host: silent(stagingHost(), entry(stagingRoot, 'blue')),
    by: ['STAGING', 'LINKED'],
  },
  'going back from a link': { task: as(hostRootUnlinked), host: linked(), by: ['LINKED', 'LEGACY'] },
  'going back from a copy': { task: as(hostRootUnlinked), host: stagingHost(), by: ['STAGING', 'LINKED', 'LEGACY'] },
  'going back from a cut swap': { task: as(hostRootUnlinked), host: swapGap(), by: ['SWAP-GAP', 'LEGACY'] },
}

/** The states passed through by a plan, each once; a break in what 6.7 promises throws. */
const passedBy = (task: Task<never>, host: HostLiteral, input: Record<string, string>): HostRootState[] => {
  const params = paramsOf(task, input)
  const state = hostState(host, [...moveFacts(), ...task.facts(params as never, aHost())])
  const plan = planOn(task, params as never, state)
  if (plan.status !== 'planned') throw new Error(`it is ${plan.status}`)
  const isInstalled = host.units?.[agent] !== undefined
  const passed: HostRootState[] = []
  let cut = state
  for (const change of [null, ...plan.changes]) {
    if (change !== null) cut = predict(cut, change)
    // What comes after a start of the agent is that agent's own doing.
    if (change?.kind === 'systemctl' && (change.verb === 'restart' || change.verb === 'start')) break
    const now = rootState(cut)
    const before = passed.at(-1)
    if (before !== undefined && before !== now) expect(hostRootRow(before).leadsTo).toContain(now)
    if (before !== now) passed.push(now)
    if (isInstalled) startable(viewOf(cut))
  }
  return passed
}

test.each(Object.entries(cuts))(
  'M4 %s, cut after any change, leaves a state of the table and what the unit runs is whole',
  (_, { task, host, input = {}, by }) => expect(passedBy(task, host, input)).toEqual(by),
)

const gone = ['absent'] as const
const anyHost = fc
  .record({
    from: fc.constantFrom('linked', 'staging', 'moving1', 'moving2'),
    agentIs: fc.constantFrom('active', 'inactive', 'failed', 'activating'),
    named: fc.constantFrom<'/usr/local' | '/opt/unbounded/agent'>(LEGACY, ROOT),
    isUnfit: fc.boolean(),
    lacks: fc.subarray([helperOf(LEGACY), localDnsOf(LEGACY), override, regenerate, localDns, recoveryUnit]),
    bin: fc.constantFrom<PathLiteral>({ link: entry(LEGACY, 'current') }, { file: 'seed', mode: 0o755 }, 'absent'),
    labels: fc.boolean(),
  })
  .map(({ from, agentIs, named, isUnfit, lacks, bin, labels }) => {
    const isMoving = from.startsWith('moving')
    const names = isMoving ? named : LEGACY
    const runs = from === 'moving2' ? ROOT : LEGACY
    const host = { linked, staging: stagingHost, moving1, moving2 }[from]({
      units: { [agent]: running(agentIs, from === 'moving2' ? ROOT : names, runs) },
      paths: {
        ...unitsOn(from === 'moving2' ? ROOT : names),
        ...Object.fromEntries(lacks.map((path) => [path, ...gone])),
        [`${LEGACY}/bin/aks-flex-node`]: bin,
      },
      programs: { restorecon: labels ? '/sbin/restorecon' : null },
    })
    return isUnfit ? silent(host, entry(ROOT, 'current'), entry(stagingRoot, 'blue')) : host
  })

test('M4 so it is on hosts in every condition, by whatever of both passes, or of putting back, is planned there', () => {
  const met = new Set<string>()
  fc.assert(
    fc.property(anyHost, fc.constantFrom(as(hostRootMoved), as(hostRootSettled)), (host, task) => {
      const input: Record<string, string> = task.name === 'host-root-moved' ? since : {}
      const params = paramsOf(task, input)
      const state = hostState(host, [...moveFacts(), ...task.facts(params as never, aHost())])
      const plan = planOn(task, params as never, state)
      if (plan.status !== 'planned') return
      met.add(passedBy(task, host, input).join(' '))
    }),
    { numRuns: 400 },
  )
  expect([...met]).toEqual(
    expect.arrayContaining([
      'LINKED STAGING SWAP-GAP MOVING-1',
      'MOVING-1',
      'MOVING-1 SWAP-GAP STAGING LINKED',
      'MOVING-2 MOVED',
      'MOVING-1 MOVED',
      'STAGING LINKED',
    ]),
  )
})
