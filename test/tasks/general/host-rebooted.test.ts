import { describe, expect, test } from 'vitest'
import { hostRebooted } from '../../../src/tasks/general/host-rebooted.ts'
import type { HostLiteral } from '../host-state.ts'
import { faultsOf, paramsOf, planOn, predicted, refusal, result, stateFor } from './planning.ts'

const asked = ['needs-restarting', '-r']
const rhel = (code: number, stdout = ''): HostLiteral => ({
  os: { family: 'rhel' },
  commands: [[asked, { code, stdout }]],
})
const ubuntu: HostLiteral = { os: { family: 'ubuntu' } }
const marked: HostLiteral = {
  ...ubuntu,
  paths: { '/run/reboot-required': { file: '*** System restart required ***' } },
}

test.each([
  ['always, not booted yet', { when: 'always' }, ubuntu, ['reboot']],
  ['always, booted since', { when: 'always' }, { ...ubuntu, rebooted: true }, []],
  ['required, no sign', { when: 'required' }, ubuntu, []],
  ['required, the sign of Debian', { when: 'required' }, marked, ['reboot']],
  [
    'required, and the sign is still there after a boot',
    { when: 'required' },
    { ...marked, rebooted: true },
    ['reboot'],
  ],
  ['required, the sign on RHEL', { when: 'required' }, rhel(1, 'kernel\n\nReboot is required to fully\n'), ['reboot']],
  ['required, none on RHEL', { when: 'required' }, rhel(0, 'Reboot should not be necessary.'), []],
  ['required, its program failed', { when: 'required' }, rhel(1, ''), { blocked: 'precondition-unmet' }],
  ['required, its program is not there', { when: 'required' }, rhel(127), { blocked: 'precondition-unmet' }],
  ['required, its program hung', { when: 'required' }, rhel(124), { blocked: 'precondition-unmet' }],
  ['required, nobody to ask, and booted since', { when: 'required' }, { ...rhel(127), rebooted: true }, []],
  ['no systemd', { when: 'always' }, { os: { isSystemd: false } }, { blocked: 'precondition-unmet' }],
  ['no systemd, and nothing to do', { when: 'required' }, { os: { isSystemd: false, family: 'debian' } }, []],
] as const)('%s', (_, input, literal, wanted) => {
  expect(result(hostRebooted, input, literal as HostLiteral)).toEqual(wanted)
})

test('what is missing on RHEL is named, and what would bring it', () => {
  expect(refusal(hostRebooted, { when: 'required' }, rhel(127))).toContain('dnf-utils')
})

test('the host has as long as the step says', () => {
  const params = paramsOf(hostRebooted, { when: 'always', within_s: 45 })
  expect(planOn(hostRebooted, params, stateFor(hostRebooted, params, {}))).toMatchObject({
    changes: [{ kind: 'reboot', withinMs: 45_000 }],
  })
})

test('nothing is asked of a host that is rebooted in any case', () => {
  expect(hostRebooted.facts(paramsOf(hostRebooted, { when: 'always' }), {} as never)).toEqual([])
})

test('whether another reboot is required only the next look can tell', () => {
  const params = paramsOf(hostRebooted, { when: 'required' })
  const state = stateFor(hostRebooted, params, marked)
  expect(planOn(hostRebooted, params, predicted(state, planOn(hostRebooted, params, state)))).toEqual({
    status: 'unknown',
  })
})

describe('parameters', () => {
  test.each([[{}], [{ when: 'sometimes' }], [{ when: 'always', within_s: 5 }], [{ when: 'always', within: 60 }]])(
    '%j is refused',
    (input) => expect(faultsOf(hostRebooted as never, input as never)).not.toEqual([]),
  )
})
