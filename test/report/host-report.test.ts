import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostFileNames } from '../../src/report/host-report.ts'
import { anyText } from './streams.ts'

test('an ordinary host name is its file name', () => {
  expect([...hostFileNames(['web-1.example.org', '10.0.0.7'])]).toEqual([
    ['web-1.example.org', 'web-1.example.org.json'],
    ['10.0.0.7', '10.0.0.7.json'],
  ])
})

test('names that are no file names are made readable ones with a digest', () => {
  const names = [...hostFileNames(['../../etc/passwd', '2001:db8::1', '日本', '', '..']).values()]
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]*-[0-9a-f]{8}\.json$/)
})

test('any hosts have safe file names, different even where case does not count', () => {
  const likely = fc.constantFrom('web', 'WEB', 'Web', 'web/', 'web:', 'web_', '.web', 'CON')
  fc.assert(
    fc.property(fc.uniqueArray(fc.oneof(likely, anyText)), (hosts) => {
      const names = hostFileNames(hosts)
      expect([...names.keys()].sort()).toEqual([...hosts].sort())
      expect(new Set([...names.values()].map((name) => name.toLowerCase())).size).toBe(hosts.length)
      for (const name of names.values()) expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]*\.json$/)
      for (const name of names.values()) expect(name.length).toBeLessThan(200)
    }),
  )
})
