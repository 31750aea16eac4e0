import { existsSync, globSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'

/** A command that a page shows at night has to be one that drover has. */

const root = new URL('../../', import.meta.url).pathname
const pages = [...globSync('docs/*.md', { cwd: root }), 'README.md', 'CHANGELOG.md'].sort()
const textOf = (page: string): string => readFileSync(`${root}${page}`, 'utf8')

const output = { write: () => {}, isTTY: false, columns: undefined }
const program = createProgram({ stdout: output, stderr: output, version: '' } as never, () => {})

/** Names of the reader's own playbooks that the pages show in full. */
const examples = new Set(pages.flatMap((page) => [...textOf(page).matchAll(/^name: (\S+)$/gm)].map(([, name]) => name)))

/** Command lines in blocks of shell, without what stands behind a `#`. */
const linesOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .flatMap((line) => line.split(/&&|;|\|/))
      .map((line) => line.replace(/\s#.*$/, '').trim())
      .filter((line) => /^(npx )?drover\s/.test(line)),
  )

const commandOf = (words: readonly string[]): Command =>
  words.reduce<Command>((command, word) => command.commands.find((one) => one.name() === word) ?? command, program)

test('there are command lines to look at', () => {
  expect(pages.flatMap(linesOf).length).toBeGreaterThan(40)
})

describe.each(pages)('%s', (page) => {
  test('every playbook that it runs comes with drover, or is shown', () => {
    for (const [, name = ''] of textOf(page).matchAll(/drover run ([a-z][a-z-]*)(?![\w./-])/g))
      if (!examples.has(name))
        expect(existsSync(`${root}playbooks/${name}.yaml`), `${page}: drover run ${name}`).toBe(true)
  })

  test('every verb and option in its blocks is one of drover', () => {
    for (const line of linesOf(page)) {
      const words = line.replace(/^npx /, '').split(/\s+/).slice(1)
      const command = commandOf(words.filter((word) => !word.startsWith('-')))
      if (!line.endsWith('--version')) expect(command, `${page}: ${line}`).not.toBe(program)
      const known = new Set(command.options.flatMap(({ long, short }) => [long, short]))
      for (const flag of line
        .replaceAll(/"[^"]*"|'[^']*'/g, '')
        .matchAll(/(?<=\s)(--[a-z][a-z-]*|-[A-Za-z])(?=[\s=]|$)/g))
        if (flag[1] !== '--help') expect([...known], `${page}: ${line}`).toContain(flag[1])
    }
  })
})
