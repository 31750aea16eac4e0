import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { hostOf, load, playsOf } from './world.ts'

const page = readFileSync(new URL('../../docs/playbooks.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block)
const example = blocks.find((block) => block.startsWith('name:')) ?? ''
const secrets = blocks.find((block) => block.startsWith('vars:')) ?? ''
const confirmation = blocks.find((block) => block.startsWith('confirm:')) ?? ''

test('the example of docs/playbooks.md loads and comes to what the page says', () => {
  const hosts = [hostOf('a', { groups: ['all', 'rhel'] }), hostOf('b', { groups: ['all', 'canary'] })]
  const plays = playsOf(load(example), { hosts })
  expect(plays.map(({ steps }) => steps.map(({ name }) => name))).toEqual([
    ['bring the worker back', 'worker-running'],
    ['worker-running'],
  ])
  expect(plays[0]?.steps[0]?.params).toMatchObject({ stable_s: 45 })
})

test('the secrets of docs/playbooks.md are secrets', () => {
  const playbook = load(
    `name: p\n${secrets}steps: [{ task: anything, with: { a: '\${token}', b: '\${registry.password}' } }]\n`,
  )
  const world = { env: { BOOTSTRAP_TOKEN: 't' }, files: { '/run/secrets/registry': 'p\n' } }
  expect(JSON.stringify(playsOf(playbook, world)[0]?.steps[0]?.params)).toBe('{"a":"[secret]","b":"[secret]"}')
})

test('the confirmation of docs/playbooks.md is asked for', () => {
  expect(load(`name: p\n${confirmation}steps: [{ task: anything }]\n`).confirm).toEqual({
    says: 'The agent and all of its files are removed.',
    also: 'yes-remove-everything',
  })
})

test('no block of the page is left untested', () => {
  expect(blocks).toEqual([example, confirmation, secrets])
})
