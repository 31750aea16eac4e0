import { expect, test } from 'vitest'
import { applySource } from '../../src/runner/apply-control.ts'

// The parts are joined to one script, in which the later of two functions of one name would stand for both.
test.each(['main', 'cancel', 'release'] as const)('no function of %s is defined twice', (name) => {
  const names = [...applySource(name).matchAll(/^([a-z0-9_]+)\(\) \{/gm)].map(([, found]) => found)
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((found, index) => names.indexOf(found) !== index)).toEqual([])
})
