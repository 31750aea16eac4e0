import { describe, expect, test } from 'vitest'
import { type HostView, viewOf } from '../../src/facts/view.ts'
import { checkShape } from '../../src/inventory/check-shape.ts'
import type { When } from '../../src/playbook/playbook.ts'
import { evaluateWhen, whenFacts } from '../../src/playbook/when.ts'
import { whenSchema } from '../../src/playbook/when-schema.ts'
import { hostState } from '../tasks/host-state.ts'
import { hostOf } from './world.ts'

const properties: Readonly<Record<string, string>> = { 'a.service ActiveState': 'failed', 'a.service Job': '' }
const types: Readonly<Record<string, string>> = { '/x': 'file', '/dev/x': 'other' }

/** Strict: what no condition asked for is not there. */
const view = {
  systemd: { ok: false, error: 'not asked' },
  os: { family: 'rhel' },
  unit: (name: string) => ({
    get: (property: string) => properties[`${name} ${property}`] ?? unasked(name),
  }),
  node: (path: string) => ({ type: types[path] ?? unasked(path) }),
} as unknown as HostView

const unasked = (what: string): never => {
  throw new Error(`${what} was not asked for`)
}

const host = hostOf('a', { groups: ['all', 'web', 'canary'], variant: 'container' })

describe('evaluateWhen', () => {
  test.each<[When, true | string]>([
    [{}, true],
    [{ os: ['ubuntu', 'rhel'] }, true],
    [{ os: ['ubuntu', 'debian'] }, 'the os is rhel, not ubuntu or debian'],
    [{ variant: 'container' }, true],
    [{ variant: 'host' }, 'the variant is container, not host'],
    [{ group: ['db', 'canary'] }, true],
    [{ group: ['db', 'edge'] }, 'the host is not in db or edge'],
    [{ facts: [{ unit: 'a.service', property: 'ActiveState', is: 'failed' }] }, true],
    [
      { facts: [{ unit: 'a.service', property: 'ActiveState', is: 'active' }] },
      'ActiveState of a.service is failed, not active',
    ],
    [{ facts: [{ unit: 'a.service', property: 'Job', is: 'active' }] }, 'Job of a.service is empty, not active'],
    [{ facts: [{ path: '/x', is: 'file' }] }, true],
    [{ facts: [{ path: '/dev/x', is: 'file' }] }, '/dev/x is other, not file'],
    [
      {
        facts: [
          { path: '/x', is: 'file' },
          { path: '/dev/x', is: 'absent' },
        ],
      },
      '/dev/x is other, not absent',
    ],
    [{ variant: 'host', facts: [{ path: '/never-asked', is: 'file' }] }, 'the variant is container, not host'],
  ])('%j', (when, answer) => {
    expect(evaluateWhen(when, host, view)).toEqual(answer === true ? true : { skipped: answer })
  })

  test('the variant of a host with an agent is measured, whatever the inventory says', () => {
    const units = { 'aks-flex-node-agent.service': { Requires: 'containerd.service' }, 'containerd.service': {} }
    const paths = { '/etc/systemd/system/aks-flex-node-agent.service': { file: '' } }
    const deployed = viewOf(hostState({ units, paths }, whenFacts({ variant: 'container' })))
    expect(evaluateWhen({ variant: 'container' }, hostOf('b', { variant: 'host' }), deployed)).toBe(true)
  })

  test('what the view cannot answer is not a skipped step', () => {
    expect(() => evaluateWhen({ facts: [{ path: '/unknown', is: 'file' }] }, host, view)).toThrow(
      '/unknown was not asked for',
    )
  })
})

test('whenFacts asks for exactly what is read', () => {
  expect(whenFacts({ os: ['rhel'] })).toEqual([])
  const facts = whenFacts({
    facts: [
      { unit: 'a.service', property: 'Id', is: 'x' },
      { path: '/x', is: 'file' },
    ],
  })
  expect(facts).toEqual([
    { kind: 'unit', name: 'a.service' },
    { kind: 'path', path: '/x' },
  ])
})

describe('the schema', () => {
  const condition = (facts: unknown) => checkShape(whenSchema, { facts: [facts] })

  test('takes one or a list, and a whole number as text', () => {
    const when = { os: 'rhel', group: ['a', 'b'], facts: [{ unit: 'a.service', property: 'NRestarts', is: 0 }] }
    expect(checkShape(whenSchema, when).value).toEqual({
      os: ['rhel'],
      group: ['a', 'b'],
      facts: [{ unit: 'a.service', property: 'NRestarts', is: '0' }],
    })
    expect(checkShape(whenSchema, {}).value).toEqual({})
  })

  test.each<[unknown, string]>([
    [{ unit: 'foo@.service', property: 'Id', is: 'x' }, 'facts.0.unit This is no unit name.'],
    [{ unit: 'a', property: 'Id', is: 'x' }, 'facts.0.unit This is no unit name.'],
    [{ unit: 'a.service', is: 'x' }, 'facts.0 This is neither a unit with its property nor a path.'],
    [
      { unit: 'a.service', property: 'Id', path: '/x', is: 'x' },
      'facts.0 This is neither a unit with its property nor a path.',
    ],
    [{ is: 'x' }, 'facts.0 This is neither a unit with its property nor a path.'],
    [{ path: 'x', is: 'file' }, 'facts.0.path This is no clean absolute path.'],
    [{ path: '/x/../y', is: 'file' }, 'facts.0.path This is no clean absolute path.'],
    [{ path: '/x', is: 'fiel' }, 'facts.0.is "fiel" is no kind of file.'],
    [{ path: '/x', is: 'other' }, 'facts.0.is "other" is no kind of file.'],
    [{ unit: 'a.service', property: 'Id', is: true }, 'facts.0.is true stands where a text or a number belongs.'],
    ['x', 'facts.0 The text "x" stands where a mapping belongs.'],
  ])('%j is refused', (facts, fault) => {
    expect(
      condition(facts).faults.map((found) => ('key' in found ? found.key : `${found.path.join('.')} ${found.message}`)),
    ).toEqual([fault])
  })

  test('an unknown key is named with those there are', () => {
    expect(condition({ pth: '/x', is: 'file' }).faults).toEqual([
      { path: ['facts', 0], key: 'pth', known: ['unit', 'property', 'path', 'is'] },
    ])
  })
})
