import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { shellSource } from '../../src/facts/shell-source.ts'

const sourceOf = (text: string): string => {
  const directory = mkdtempSync(join(tmpdir(), 'drover-shell-source-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'a.sh'), text)
  return shellSource(pathToFileURL(join(directory, 'a.sh')))
}

test('only lines that are nothing but a comment stay at home', () => {
  expect(sourceOf('#!/bin/sh\n# a\nmain() { # b\n  # c\n\t#d\n  x=${1#y} # e\n}\n\nmain "$@"\n')).toBe(
    'main() { # b\n  x=${1#y} # e\n}\n\nmain "$@"\n',
  )
})

const source = new URL('../../src/', import.meta.url)
const scripts = globSync('**/*.sh', { cwd: source })

test.each(scripts)('%s loses its comments and nothing else', (name) => {
  const url = new URL(name, source)
  const kept = readFileSync(url, 'utf8')
    .split('\n')
    .filter((line) => !/^[ \t]*#/.test(line))
  expect(shellSource(url).split('\n')).toEqual(kept)
})
