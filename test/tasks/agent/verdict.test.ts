import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostRootStates } from '../../../src/tasks/agent/host-root.ts'
import { type StatusSigns, type Verdict, verdictOf, verdicts } from '../../../src/tasks/agent/verdict.ts'

const well: StatusSigns = {
  systemd: true,
  busy: false,
  rollback: null,
  owed: false,
  installed: true,
  variant: 'host',
  agent: 'active',
  agentEnabled: true,
  containerdActive: false,
  hostRoot: 'MOVED',
  move: null,
  linked: null,
  target: 'active',
  targetEnabled: false,
  wired: true,
  state: 'ok',
  worker: 'active',
  workerEnabled: true,
  workerMasked: false,
}

const rows: [Verdict, string | null, Partial<StatusSigns>][] = [
  ['healthy', null, {}],
  ['healthy', null, { target: 'inactive' }],
  ['healthy', null, { wired: false, targetEnabled: true }],
  ['healthy', null, { rollback: 'rolled-back' }],
  ['no-systemd', null, { systemd: false, installed: false }],
  ['locked', null, { busy: true, worker: 'down' }],
  ['rolling-back', null, { rollback: 'undoing', worker: 'down' }],
  ['no-agent', null, { installed: false, agent: 'down', worker: 'down', state: 'damaged' }],
  ['target-masked', null, { target: 'masked', worker: 'down' }],
  ['target-missing', null, { target: 'missing', worker: 'down' }],
  ['containerd-failed', null, { variant: 'container', agent: 'down', worker: 'down' }],
  ['agent-down', null, { variant: 'container', agent: 'down', containerdActive: true }],
  ['state-unreadable', null, { state: 'damaged', worker: 'down', workerEnabled: false }],
  ['state-unreadable', null, { state: 'unseen', worker: 'down', workerEnabled: false }],
  ['agent-failed', null, { state: 'unseen', agent: 'failed', worker: 'down', workerEnabled: false }],
  ['worker-masked', null, { workerMasked: true, worker: 'down' }],
  ['stuck', 'remediate', { target: 'inactive', worker: 'down', wired: false }],
  ['stuck', 'remediate', { worker: 'down' }],
  ['stuck', 'remediate', { worker: 'down', agent: 'failed' }],
  ['root-conflict', null, { hostRoot: 'CONFLICT', agent: 'failed' }],
  ['root-conflict', null, { hostRoot: 'BLOCKED', agent: 'down' }],
  ['agent-lost', null, { hostRoot: 'ABSENT' }],
  ['agent-lost', null, { hostRoot: 'EMPTY-ROOT', agent: 'failed' }],
  ['agent-lost', null, { hostRoot: 'LINK-ORPHAN' }],
  ['healthy', null, { hostRoot: 'ABSENT', variant: 'container' }],
  ['agent-failed', null, { agent: 'failed' }],
  ['agent-down', null, { agent: 'down', worker: 'down', workerEnabled: false }],
  ['move-stuck', 'migrate', { hostRoot: 'MOVING-2', move: 'stuck', agent: 'down' }],
  ['move-stuck', 'migrate', { hostRoot: 'MOVING-1', move: 'stuck', agent: 'failed' }],
  ['stuck', 'remediate', { hostRoot: 'MOVING-1', move: 'stuck', worker: 'down' }],
  ['agent-failed', null, { hostRoot: 'MOVING-1', move: 'going', agent: 'failed' }],
  ['moving', null, { hostRoot: 'MOVING-1', move: 'going', agent: 'down' }],
  ['moving', null, { hostRoot: 'MOVING-2', move: 'going' }],
  ['move-cut', 'migrate', { hostRoot: 'STAGING', move: 'cut' }],
  ['move-cut', 'migrate', { hostRoot: 'SWAP-GAP', move: 'cut', owed: true }],
  ['move-cut', 'migrate', { hostRoot: 'STAGING', move: 'cut', wired: false }],
  ['agent-down', null, { hostRoot: 'SWAP-GAP', move: 'cut', agent: 'down' }],
  ['healthy', 'migrate', { hostRoot: 'LINKED', linked: 'ready' }],
  ['healthy', null, { hostRoot: 'LINKED', linked: 'waiting-for-release' }],
  ['healthy', null, { hostRoot: 'LINKED', linked: 'waiting-for-upgrade' }],
  ['healthy', null, { hostRoot: 'LINKED', linked: 'blocked-noexec' }],
  ['healthy', null, { hostRoot: 'OPERATOR-LINK' }],
  ['not-wired', 'machines-target', { hostRoot: 'LINKED', linked: 'ready', wired: false }],
  ['worker-stopped', null, { worker: 'down', workerEnabled: false, wired: false }],
  ['worker-starting', null, { worker: 'starting' }],
  ['worker-disabled', null, { workerEnabled: false }],
  ['not-wired', 'machines-target', { wired: false }],
  ['agent-disabled', null, { agentEnabled: false }],
  ['unfinished', null, { owed: true }],
  ['unconfirmed', null, { rollback: 'armed' }],
]

test.each(rows)('%s, fix %s: %o', (verdict, fix, changes) => {
  expect(verdictOf({ ...well, ...changes })).toEqual({ verdict, fix })
})

test('every verdict has its row here', () => {
  expect(new Set(rows.map(([verdict]) => verdict))).toEqual(new Set(verdicts))
})

const anySigns: fc.Arbitrary<StatusSigns> = fc.record({
  systemd: fc.boolean(),
  busy: fc.boolean(),
  rollback: fc.constantFrom(null, 'armed', 'undoing', 'rolled-back'),
  owed: fc.boolean(),
  installed: fc.boolean(),
  variant: fc.constantFrom('host', 'container'),
  agent: fc.constantFrom('active', 'failed', 'down'),
  agentEnabled: fc.boolean(),
  containerdActive: fc.boolean(),
  hostRoot: fc.constantFrom(...hostRootStates),
  move: fc.constantFrom(null, 'going', 'stuck', 'cut'),
  linked: fc.constantFrom(null, 'ready', 'waiting-for-release', 'waiting-for-upgrade', 'blocked-noexec'),
  target: fc.constantFrom('active', 'inactive', 'masked', 'missing'),
  targetEnabled: fc.boolean(),
  wired: fc.boolean(),
  state: fc.constantFrom('ok', 'damaged', 'unseen'),
  worker: fc.constantFrom('active', 'starting', 'down'),
  workerEnabled: fc.boolean(),
  workerMasked: fc.boolean(),
})

// Drawn apart from `well`, a change or two at a time, since wholly random signs are hardly ever healthy.
const nearlyWell = anySigns.chain((signs) =>
  fc
    .subarray(Object.keys(signs) as (keyof StatusSigns)[], { maxLength: 3 })
    .map((keys): StatusSigns => ({ ...well, ...Object.fromEntries(keys.map((key) => [key, signs[key]])) })),
)

test('the verdict is total, and healthy means that all that is wanted runs and would after a reboot', () => {
  fc.assert(
    fc.property(fc.oneof(anySigns, nearlyWell), (signs) => {
      const { verdict, fix } = verdictOf(signs)
      expect(verdicts).toContain(verdict)
      if (verdict === 'healthy') {
        expect(signs).toMatchObject({
          systemd: true,
          installed: true,
          agent: 'active',
          worker: 'active',
          workerEnabled: true,
          agentEnabled: true,
        })
        expect(signs).toMatchObject({ state: 'ok', owed: false, busy: false, move: null })
        expect(['active', 'inactive']).toContain(signs.target)
        expect(signs.targetEnabled || signs.wired).toBe(true)
      }
      // A playbook is offered only where it could act: the active side is known, nothing masked or held.
      if (fix !== null) expect(signs).toMatchObject({ installed: true, busy: false })
      if (fix === 'remediate' || fix === 'machines-target')
        expect(signs).toMatchObject({ state: 'ok', workerEnabled: true })
      if (fix === 'migrate') expect(signs.linked === 'ready' || ['stuck', 'cut'].includes(signs.move ?? '')).toBe(true)
    }),
    { numRuns: 2000 },
  )
})
