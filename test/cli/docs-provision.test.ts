import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { provisionMarkdown } from '../../src/cli/docs-provision.ts'
import { parseStrictYaml } from '../../src/inventory/strict-yaml.ts'
import { provisionParam } from '../../src/provision/inputs.ts'
import { drover } from './harness.ts'
import { key } from './provisioned.ts'

const page = readFileSync(new URL('../../docs/azure-container-linux.md', import.meta.url), 'utf8')

test('the page has every key of the variable, each with what it is', () => {
  const rows = provisionMarkdown().split('\n').slice(2)
  expect(rows.map((row) => /^\| `(\w+)` \|/.exec(row)?.[1])).toEqual(Object.keys(provisionParam.shape))
  for (const row of rows) expect(row).toMatch(/^\| `\w+` \| [^|]+ \| [^|]{5,} \|$/)
  expect(page).toContain(provisionMarkdown())
})

test('the inventory of the page works, and so do its commands', async () => {
  const [, inventory = ''] = /```yaml\n(# hosts\.yaml\n.*?)```/s.exec(page) ?? []
  expect(parseStrictYaml('hosts.yaml', inventory).faults).toEqual([])
  const lines = [...page.matchAll(/^drover ((?:ignition|cloud-init) .*)$/gm)].map(([, line = '']) => line)
  expect(lines).toHaveLength(2)
  for (const line of lines) {
    const words = line.replace('~/.ssh/', '').split(' ')
    const ran = await drover(words, {
      files: { 'hosts.yaml': inventory, 'fleet.pub': key },
      env: { SP_SECRET: 'hush' },
    })
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.stderr).not.toContain('warn')
  }
})
