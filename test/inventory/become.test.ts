import { expect, test } from 'vitest'
import { needsSudo } from '../../src/inventory/become.ts'
import { drover } from '../cli/harness.ts'
import { hostNamed, read } from './reading.ts'

const text = 'become: true\nhosts: { a: { user: admin }, b: { user: root }, c: { user: admin, become: false } }\n'

test.each([
  ['a', true, 'sudo'],
  ['b', false, 'yes'],
  ['c', false, 'no'],
])('of host %s sudo is %s, and `inventory list` says %s', async (name, isNeeded, word) => {
  expect(needsSudo(hostNamed(read(text), name))).toBe(isNeeded)
  const ran = await drover(['inventory', 'list', '-i', 'hosts.yaml', '-l', name], { files: { 'hosts.yaml': text } })
  expect(ran.stdout.split('\n')[1]?.split(/ +/)[4]).toBe(word)
})
