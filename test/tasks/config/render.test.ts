import { expect, test } from 'vitest'
import { Secret } from '../../../src/secret.ts'
import { isSameConfig, merged, revealed, serialised } from '../../../src/tasks/config/render.ts'

test('mappings are joined and everything else is replaced', () => {
  const base = { azure: { cloud: 'a', tags: [1, 2] }, node: { maxPods: 10 } }
  const over = { azure: { tags: [3] }, node: null, npd: { version: 'v1' } }
  expect(merged(base, over)).toEqual({ azure: { cloud: 'a', tags: [3] }, node: null, npd: { version: 'v1' } })
})

test('a key that every object has is a key like others', () => {
  expect(merged({}, { toString: 'x' })).toEqual({ toString: 'x' })
})

test('secrets anywhere become texts, and the whole a secret', () => {
  const config = revealed({ a: [{ b: new Secret('s"1') }], c: new Secret('s2') })
  expect(config).toEqual({ a: [{ b: 's"1' }], c: 's2' })
  const whole = serialised(config)
  expect(JSON.stringify({ whole })).toBe('{"whole":"[secret]"}')
  expect(JSON.parse(whole.reveal())).toEqual(config)
})

test.each([
  ['{"a":1,"b":{"c":[1,2]}}', '{ "b": {"c": [1, 2]},\n"a": 1 }', true],
  ['{"a":[1,2]}', '{"a":[2,1]}', false],
  ['{"a":{}}', '{"a":[]}', false],
  ['{"a":1', '{"a":1}', false],
])('%s and %s are the same: %j', (one, other, same) => {
  expect(isSameConfig(one, other)).toBe(same)
})
