import fc from 'fast-check'
import { LEGACY, ROOT } from '../../../src/tasks/agent/paths.ts'
import { laidOut, type SettledState, settledStates } from '../deployed.ts'
import type { HostLiteral, PathLiteral, UnitLiteral } from '../host-state.ts'

const agent = 'aks-flex-node-agent.service'
const inWorker = '/var/lib/machines/kube1/usr/local/bin/aks-flex-node'

const binary = (file: string): PathLiteral => ({ file, mode: 0o755 })
const running = (state: SettledState): UnitLiteral => laidOut(state).units?.[agent] ?? {}

const shape = fc.record({
  state: fc.constantFrom(...settledStates),
  current: fc.constantFrom('blue', 'green'),
  lastGood: fc.constantFrom('blue', 'green', 'dangling', 'absent'),
  /** What the slot that does not run holds. */
  idle: fc.constantFrom('absent', 'older', 'new'),
  runs: fc.constantFrom('old', 'new'),
  bin: fc.constantFrom('link', 'file', 'absent', 'elsewhere'),
  unit: fc.constantFrom('active', 'failed', 'inactive'),
  worker: fc.constantFrom('old', 'new', 'missing', 'no place'),
  recovery: fc.boolean(),
  seed: fc.boolean(),
  starts: fc.integer({ min: 0, max: 6 }),
  acl: fc.boolean(),
})

/** Hosts with an agent in every condition that no refusal is for. */
export const guardedHosts: fc.Arbitrary<HostLiteral> = shape.map((host) => {
  const isPlain = host.state === 'LEGACY-PLAIN'
  const root = host.state === 'MOVED' ? ROOT : LEGACY
  const entry = (name: string): string => `${root}/lib/aks-flex-node/aks-flex-node-${name}`
  const other = host.current === 'blue' ? 'green' : 'blue'
  const lastGood: PathLiteral =
    host.lastGood === 'absent'
      ? 'absent'
      : { link: host.lastGood === 'dangling' ? entry('gone') : entry(host.lastGood) }
  const bins: Record<typeof host.bin, PathLiteral> = {
    link: { link: entry('current') },
    file: binary('seed'),
    absent: 'absent',
    elsewhere: { link: entry('blue') },
  }
  const slots: Record<string, PathLiteral> = isPlain
    ? {}
    : {
        [entry(host.current)]: binary(host.runs),
        [entry(other)]: host.idle === 'absent' ? 'absent' : binary(host.idle),
        [entry('current')]: { link: entry(host.current) },
        [entry('last-good')]: lastGood,
        [entry('gone')]: 'absent',
        [`${root}/bin/aks-flex-node`]: bins[host.bin],
        ...(host.recovery ? {} : { [entry('recovery.sh')]: 'absent' }),
      }
  const active: UnitLiteral = isPlain ? running(host.state) : { ...running(host.state), exe: entry(host.current) }
  const states: Record<typeof host.unit, UnitLiteral> = {
    active,
    failed: { ...active, ActiveState: 'failed', Result: 'exit-code', exe: '', MainPID: '0' },
    inactive: { ...active, ActiveState: 'inactive', exe: '', MainPID: '0' },
  }
  return laidOut(host.state, {
    os: host.acl ? { family: 'acl', systemdVersion: 257 } : {},
    units: { [agent]: { ...states[host.unit], starts: host.starts } },
    paths: {
      ...slots,
      [inWorker]: host.worker === 'old' || host.worker === 'new' ? binary(host.worker) : 'absent',
      ...(host.worker === 'no place' && { '/var/lib/machines/kube1/usr/local/bin': 'absent' }),
      ...(host.seed && host.state === 'MOVED' && { [`${LEGACY}/bin/aks-flex-node`]: binary('seed') }),
    },
    versions: { [entry('last-good')]: 'v0.3.1' },
  })
})
