import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { hostRootMarkdown, verdictsMarkdown } from '../../src/cli/docs-status.ts'
import { withGeneratedPart } from '../../src/cli/generated-part.ts'
import { hostRootStates, hostRootTable } from '../../src/tasks/agent/host-root.ts'
import { verdicts } from '../../src/tasks/agent/verdict.ts'

const root = new URL('../../', import.meta.url).pathname
const page = (name: string): string => readFileSync(`${root}docs/${name}`, 'utf8')
const rowsOf = (table: string): string[] => table.split('\n').slice(2)

describe('generated parts', () => {
  const around = 'before\n\n<!-- generated: x; changes up to its end are lost -->\nold\n<!-- end of x -->\n\nafter\n'

  test('only what lies between the marks changes, and writing twice changes nothing', () => {
    const once = withGeneratedPart(around, 'x', 'new\n')
    expect(once).toBe(
      'before\n\n<!-- generated: x; changes up to its end are lost -->\n\nnew\n\n<!-- end of x -->\n\nafter\n',
    )
    expect(withGeneratedPart(once, 'x', 'new\n')).toBe(once)
  })

  test('a page without the marks, or with them the wrong way round, is refused', () => {
    expect(() => withGeneratedPart(around, 'y', 'new')).toThrow(/lacks the lines/)
    const turned = '<!-- end of x -->\n<!-- generated: x; changes up to its end are lost -->'
    expect(() => withGeneratedPart(turned, 'x', 'new')).toThrow(/lacks the lines/)
  })
})

test('M4 docs/migration.md has a row for every state, with what the table says', () => {
  const rows = rowsOf(hostRootMarkdown())
  expect(rows).toHaveLength(hostRootStates.length)
  for (const [index, { state, means, goBack, switches, remedy }] of hostRootTable.entries()) {
    const row = rows[index] ?? ''
    expect(row.split(/(?<!\\)\|/)).toHaveLength(8)
    for (const text of [`**${state}**`, means, goBack, remedy ?? '', switches ? 'allowed' : 'refused'])
      expect(row).toContain(text)
  }
  expect(page('migration.md')).toContain(hostRootMarkdown())
})

test('docs/operations.md has a row for every verdict', () => {
  const rows = rowsOf(verdictsMarkdown())
  expect(rows.map((row) => row.split('`')[1])).toEqual(verdicts)
  expect(page('operations.md')).toContain(verdictsMarkdown())
})

const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )

test.each(globSync('docs/**/*.md', { cwd: root }).sort())('%s: every link leads to a page and a heading', (file) => {
  const text = readFileSync(`${root}${file}`, 'utf8')
  const folder = file.slice(0, file.lastIndexOf('/') + 1)
  for (const [, link = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? file : new URL(path, `file:///${folder}`).pathname.slice(1)
    const found = globSync([target, target.replace(/\/$/, '')], { cwd: root })
    expect(found, `${file}: ${link}`).not.toEqual([])
    if (anchor !== undefined)
      expect(anchorsOf(readFileSync(`${root}${target}`, 'utf8')), `${file}: ${link}`).toContain(anchor)
  }
})
