import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { shellSource } from '../src/facts/shell-source.ts'

/** What runs on hosts. Nothing here runs it: `sh -n` and shellcheck only read. */

const root = new URL('../src/', import.meta.url).pathname
const scripts = globSync('**/*.sh', { cwd: root }).sort()
const textOf = (name: string): string => readFileSync(join(root, name), 'utf8')

/** Those that are no program by themselves: functions for another one. */
const libraries = scripts.filter((name) =>
  /^facts\/inspect\/(?!main)|^transport\/upload\/fit\.sh$|^changes\/apply\/(steps|control|words|supervise|unit|start|launch|place|guard|health)\.sh$|^changes\/rollback\/(?!confirm|fire-now)|^provision\/bootstrap\/(?!main)/.test(
    name,
  ),
)
const programs = scripts.filter((name) => !libraries.includes(name))

test('there are scripts', () => expect([libraries.length, programs.length].every((count) => count > 4)).toBe(true))

test('shellcheck has nothing to say', () => {
  // A machine without shellcheck fails here, and does not pass for one with it.
  const { error, stdout, status } = spawnSync('shellcheck', scripts, { cwd: root, encoding: 'utf8' })
  expect(error).toBeUndefined()
  expect([status, stdout]).toEqual([0, ''])
})

describe.each(scripts)('%s', (name) => {
  const lines = textOf(name).split('\n')

  test.each(['/bin/sh', '/bin/bash'])('is a script to %s, with its comments and without', (shell) => {
    for (const text of [textOf(name), shellSource(pathToFileURL(join(root, name)))]) {
      expect(execFileSync(shell, ['-n'], { input: text, encoding: 'utf8', stdio: 'pipe' })).toBe('')
    }
  })

  test('ends with a newline and holds no carriage return, no tab and nothing but ASCII', () => {
    expect(textOf(name).endsWith('\n')).toBe(true)
    expect(textOf(name)).toMatch(/^[\n -~]*$/)
  })

  test('has no line of a here-document that begins with #, for comments stay at home', () => {
    let end: string | null = null
    for (const [index, line] of lines.entries()) {
      if (end !== null && line === end) end = null
      else if (end !== null) expect(line, `line ${index + 1}`).not.toMatch(/^[ \t]*#/)
      else end = /<<-?\s*(['"]?)([A-Za-z_]+)\1/.exec(line)?.[2] ?? null
    }
    expect(end).toBeNull()
  })

  test('puts nothing of ours in by a template: data are arguments', () => {
    expect(textOf(name)).not.toMatch(/\{\{|<%|@@[A-Z]/)
  })
})

test.each(programs)('%s ends with the call of main, so that a cut one does nothing', (name) => {
  const last = textOf(name).trimEnd().split('\n').at(-1)
  expect(['main "$@"', 'main "$@" </dev/null']).toContain(last)
  expect(textOf(name)).toMatch(/^main\(\) \{$/m)
})

test.each(libraries)('%s only defines functions', (name) => {
  const depthless = textOf(name)
    .split('\n')
    .filter((line) => line !== '' && !/^[ \t#}]/.test(line) && !/^[a-z0-9_]+\(\) \{/.test(line))
  // The body of a here-document and its end stand at the margin, too.
  expect(depthless.filter((line) => !/^(\$[a-z]+|[A-Z]+|'|\))$/.test(line))).toEqual([])
})

/** A redirection that fails on a special builtin ends a POSIX shell there and then, past every `||`. */
test.each(scripts)('%s redirects no special builtin where that could fail', (name) => {
  expect(
    textOf(name)
      .split('\n')
      .filter((line) => /(^|[;&|{(]|\|\||&&)\s*:\s*>\s*"?\$?\/run/.test(line)),
  ).toEqual([])
})

/** bash runs what stands in a subscript: `$((now - when))` with text of a host in `when` is code. */
test.each(scripts)('%s computes with no text that a read took from the journal unless it is digits', (name) => {
  if (!textOf(name).includes('journalctl')) return
  for (const [, variable] of textOf(name).matchAll(/while read -r ([a-z]+) _; do/g)) {
    const text = textOf(name)
    if (new RegExp(`\\$\\(\\([^)]*\\b${variable}\\b`).test(text))
      expect(text).toContain(`case $${variable} in '' | *[!0-9]*) continue`)
  }
})
