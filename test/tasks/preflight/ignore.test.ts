import fc from 'fast-check'
import { expect, test } from 'vitest'
import { failures, ignoreList, summaryOf, withIgnored } from '../../../src/tasks/preflight/ignore.ts'
import type { Finding } from '../../../src/tasks/task.ts'

test.each<[string | string[], string[]]>([
  ['', []],
  [[], []],
  ['a, B ,,a', ['a', 'b']],
  [
    ['a,b', ' C '],
    ['a', 'b', 'c'],
  ],
])('the list %j', (given, names) => expect([...ignoreList(given)]).toEqual(names))

const name = fc.constantFrom('machines-target', 'disk-space', 'cgroups')
const finding: fc.Arbitrary<Finding> = fc.record({
  check: name,
  target: fc.constant('x'),
  severity: fc.constantFrom('ok', 'warning', 'error'),
  message: fc.string(),
  ignored: fc.constant(false),
})
const findings = fc.array(finding)
const ignored: fc.Arbitrary<string[]> = fc.uniqueArray(fc.oneof(name, fc.constant('all'), fc.constant('unknown-check')))

test('only listed errors change, and only into warnings marked as ignored', () => {
  fc.assert(
    fc.property(findings, ignored, (before, names) => {
      const after = withIgnored(before, ignoreList(names))
      expect(after).toHaveLength(before.length)
      before.forEach((one, index) => {
        const listed = one.severity === 'error' && (names.includes('all') || names.includes(one.check))
        expect(after[index]).toEqual(listed ? { ...one, severity: 'warning', ignored: true } : one)
      })
    }),
  )
})

test('it fails on errors, and with fail-on-warnings on warnings, ignored errors among them', () => {
  fc.assert(
    fc.property(findings, ignored, fc.boolean(), (before, names, failOnWarnings) => {
      const after = withIgnored(before, ignoreList(names))
      const summary = summaryOf(after)
      expect(summary.ok + summary.warnings + summary.errors).toBe(after.length)
      expect(failures(after, failOnWarnings).length > 0).toBe(
        summary.errors > 0 || (failOnWarnings && summary.warnings > 0),
      )
    }),
  )
})
