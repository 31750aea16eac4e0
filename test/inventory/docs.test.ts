import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { selectHosts } from '../../src/inventory/patterns.ts'
import { settingRules } from '../../src/inventory/schema.ts'
import { names, read } from './reading.ts'

const page = readFileSync(new URL('../../docs/inventory.md', import.meta.url), 'utf8')
const example = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? ''
const inventory = read(example)

describe('docs/inventory.md', () => {
  it('shows an inventory that drover reads', () => {
    expect(inventory.hosts).toHaveLength(106)
  })

  it('explains every setting', () => {
    for (const key of Object.keys(settingRules((path) => path))) expect(page).toContain(`| \`${key}\` |`)
  })

  const rows = [...page.matchAll(/^\| `([^`]+)` \| selects (.*) \|$/gm)]
  it.each(rows.map(([, pattern = '', wanted = '']) => [pattern, wanted]))('%s', (pattern, wanted) => {
    const selected = selectHosts(inventory, pattern.replaceAll('\\', ''), { cwd: '/' })
    expect(wanted.replaceAll('`', '')).toBe(
      selected.length > 4 ? `${selected.length} hosts` : names(selected).join(', '),
    )
  })

  it('has patterns to show', () => {
    expect(rows.length).toBeGreaterThan(5)
  })
})
