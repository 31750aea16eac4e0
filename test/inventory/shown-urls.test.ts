import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inventoryJson } from '../../src/inventory/inventory-json.ts'
import { withoutUrlSecrets, withoutUrlSecretsIn } from '../../src/inventory/shown-urls.ts'
import { faultsOf, read } from './reading.ts'

describe('withoutUrlSecrets', () => {
  test.each([
    ['https://x.example.com/a.tar.gz?sv=1&sig=abc', 'https://x.example.com/a.tar.gz?[left out]'],
    ['HTTP://x/a#abc', 'HTTP://x/a#[left out]'],
    ['https://me:pass@x:8443/a', 'https://[left out]@x:8443/a'],
    ['https://me:pa/ss@x/a?b=c', 'https://[left out]@x/a?[left out]'],
    ["https://x/a?sig='a b", 'https://x/a?[left out] b'],
    [
      'curl https://x/a?b=c -o y; curl "https://z/?d" now',
      'curl https://x/a?[left out] -o y; curl "https://z/?[left out]" now',
    ],
    ['https://x/${path}?${sas}', 'https://x/${path}?[left out]'],
  ])('%s', (text, shown) => {
    expect(withoutUrlSecrets(text)).toBe(shown)
  })

  test.each(['https://x:8443/a@b', 'https://x/a.tar.gz', 'ssh://me@x/?a', 'is it? a=b', ''])('%j stays', (text) => {
    expect(withoutUrlSecrets(text)).toBe(text)
  })

  test('no query comes out of any value, and nothing else changes', () => {
    const plain = fc.jsonValue({ stringUnit: fc.constantFrom('a', ' ', '"', '?', '/') })
    const query = fc.stringMatching(/^[a-zA-Z0-9%&=;,'@:/?#-]{0,30}$/)
    fc.assert(
      fc.property(plain, query, (value, text) => {
        const shown = JSON.stringify(withoutUrlSecretsIn([value, { url: `https://x/a?QQQ${text}` }]))
        expect(shown).not.toContain('QQQ')
        expect(shown).toBe(JSON.stringify([value, { url: 'https://x/a?[left out]' }]))
      }),
    )
  })
})

const url = 'https://x/a?sig=QQQ'

test('inventory list shows none, for hosts and for groups, and what runs use is whole', () => {
  const inventory = read(`vars: { u: '${url}' }
hosts: { a: { vars: { agent: { amd64: [{ url: '${url}' }] } } } }
groups: { g: { vars: { u: '${url}' }, hosts: [a] } }`)
  const view = inventoryJson(inventory)
  expect(JSON.stringify(view)).not.toContain('QQQ')
  expect(view.hosts[0]?.vars).toEqual({
    u: 'https://x/a?[left out]',
    agent: { amd64: [{ url: 'https://x/a?[left out]' }] },
  })
  expect(inventory.hosts[0]?.vars).toEqual({ u: url, agent: { amd64: [{ url }] } })
})

test.each([
  [
    'two values',
    `hosts: { a: { vars: { v: '${url}' } } }\ngroups: { g: { hosts: { a: { vars: { v: '${url}2' } } } } }`,
  ],
  ['a text where none belongs', `hosts: { a: { port: '${url}' } }`],
  ['a long text where none belongs', `hosts: { a: { vars: 'https://me:${'QQQ'.repeat(40)}@x' } }`],
  ['a name', `hosts: { '${url}': {} }`],
  ['a key', `'${url}': {}\nhosts: { a: {} }`],
  ['a key given twice', `hosts: { a: { vars: { '${url}': 1, '${url}': 2 } } }`],
])('nor does an error about %s', (_, text) => {
  const said = faultsOf(text)
    .map(({ message, remedy }) => `${message}\n${remedy}`)
    .join('\n')
  expect(said).toContain('[left out]')
  expect(said).not.toContain('QQQ')
})
