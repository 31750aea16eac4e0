import { expect, test } from 'vitest'
import { stepNames } from '../../src/playbook/step-names.ts'

test.each([
  [
    [{ task: 'a' }, { task: 'b' }],
    ['a', 'b'],
  ],
  [
    [{ task: 'a' }, { task: 'a' }, { task: 'a' }],
    ['a', 'a (2)', 'a (3)'],
  ],
  [
    [{ task: 'a' }, { task: 'b', name: 'a' }],
    ['a (2)', 'a'],
  ],
  [
    [{ task: 'a', name: 'a (2)' }, { task: 'a' }, { task: 'a' }],
    ['a (2)', 'a', 'a (3)'],
  ],
])('%j', (steps, names) => {
  expect(stepNames(steps)).toEqual(names)
})
