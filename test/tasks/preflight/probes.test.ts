import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { probeNames } from '../../../src/facts/fact.ts'

const directory = new URL('../../../src/facts/probes/', import.meta.url)
const files = readdirSync(directory).filter((name) => name.endsWith('.sh'))

test('every probe has its script and no script is without a probe', () => {
  expect(files.map((name) => name.slice(0, -3)).sort()).toEqual([...probeNames].sort())
})

test.each(files)('%s is whole before it runs, and reads nothing from its caller', (name) => {
  const source = readFileSync(new URL(name, directory), 'utf8')
  expect(source.trimEnd().split('\n').at(-1)).toBe('main "$@" </dev/null')
  expect(source).toMatch(/^main\(\) \{$/m)
  // Only read: they are parsed here, never run.
  execFileSync('/bin/sh', ['-n'], { input: source })
})

test('no probe runs a program that it is given without a look at whose it is', () => {
  for (const name of files) {
    const source = readFileSync(new URL(name, directory), 'utf8')
    expect(source.match(/^\s*(exec|timeout \S+)?\s*"\$[1-9@]"/gm) ?? [], name).toEqual([])
  }
})
