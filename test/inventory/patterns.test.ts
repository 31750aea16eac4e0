import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import { selectHosts } from '../../src/inventory/patterns.ts'
import { filesOf, names, read } from './reading.ts'

const inventory = read(`
hosts:
  lone:
  2001:db8::1:
  2001:db8::2:
groups:
  web: { hosts: { "web[1:6]": } }
  db: { hosts: { "db[1:3]": } }
  prod: { hosts: [web1, web2, db1], children: [cache] }
  cache: { hosts: { c1: } }
  none:
`)
const files = filesOf({
  'retry.txt': '# failed last time\n\nweb1\n  db*  # all of them\n!db2\n',
  'bad.txt': 'web1\nweb9x\n@retry.txt\n',
  'blank.txt': '# nothing\n',
  'drop.txt': '!web\n',
})
const options = { cwd: '/here', readFile: files }
const select = (pattern: string): string => names(selectHosts(inventory, pattern, options)).join(' ')

const failure = (pattern: string): DroverError => {
  try {
    select(pattern)
  } catch (thrown) {
    if (thrown instanceof DroverError) return thrown
    throw thrown
  }
  throw new Error(`${pattern} selected hosts`)
}

describe('selectHosts', () => {
  it.each([
    ['web1', 'web1'],
    ['cache', 'c1'],
    ['prod', 'web1 web2 db1 c1'],
    ['db1,web1', 'web1 db1'],
    ['web:&prod:!web2', 'web1'],
    ['!web2:&prod:web', 'web1'],
    ['web:&prod:&web2', 'web2'],
    ['!web:!db', 'lone 2001:db8::1 2001:db8::2 c1'],
    ['&prod', 'web1 web2 db1 c1'],
    ['db*', 'db1 db2 db3'],
    ['[wd]*1', 'web1 db1'],
    ['pro?', 'web1 web2 db1 c1'],
    ['web[12]', 'web1 web2'],
    ['~(web|db)[12]$', 'web1 web2 db1 db2'],
    ['~pr', 'web1 web2 db1 c1'],
    ['web[0]', 'web1'],
    ['web[-1]', 'web6'],
    ['web[1:2]', 'web2 web3'],
    ['web[4:]', 'web5 web6'],
    ['db[1:9]:!db[0]', 'db2 db3'],
    ['c[1:5]', 'c1'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::2]', '2001:db8::2'],
    ['lone:2001:db8::1:!2001:db8::2', 'lone 2001:db8::1'],
    ['2001*', '2001:db8::1 2001:db8::2'],
    ['ungrouped', 'lone 2001:db8::1 2001:db8::2'],
    ['web1:!none', 'web1'],
    ['@retry.txt', 'web1 db1 db3'],
    ['web:!@retry.txt', 'web2 web3 web4 web5 web6'],
    ['prod:&@drop.txt', 'db1 c1'],
  ])('%s', (pattern, wanted) => {
    expect(select(pattern)).toBe(wanted)
  })

  it.each(['all', '*', 'all,web', '~.*'])('%s is every host, in the order of the inventory', (pattern) => {
    expect(select(pattern)).toBe(names(inventory.hosts).join(' '))
  })

  it.each([
    ['wbe1', 'pattern-no-match', 'web1'],
    ['web:!prdo', 'pattern-no-match', 'prod'],
    ['web:&zzzzz', 'pattern-no-match', 'graph'],
    ['web[9]', 'pattern-no-match', ''],
    ['web:&db', 'pattern-no-match', 'loosen'],
    ['none', 'pattern-no-match', 'loosen'],
    ['2001:db8::9', 'pattern-no-match', '2001:db8::'],
    ['', 'usage', 'all'],
    [' :, ', 'usage', 'all'],
    ['~(', 'usage', 'Correct'],
    ['~a)(b', 'usage', 'Correct'],
    ['x[5:1]', 'usage', 'ranges'],
    ['x[1:999999999]', 'usage', 'smaller'],
    ['@gone.txt', 'usage', 'path'],
    ['@blank.txt', 'pattern-no-match', 'line'],
  ])('%j is %s', (pattern, code, remedy) => {
    const error = failure(pattern)
    expect(error.code).toBe(code)
    expect(error.remedy).toContain(remedy)
  })

  it('reports all terms at once, those of a file with their lines', () => {
    const { message } = failure('nix,@bad.txt')
    expect(message).toContain('"nix"')
    expect(message).toContain('bad.txt:2 No host and no group matches "web9x"')
    expect(message).toContain('bad.txt:3 A pattern file cannot name another one.')
  })

  it('ends a regular expression that would run for ever', () => {
    const long = read(`hosts: { ${'a'.repeat(60)}-: }`)
    const slow = (): unknown => selectHosts(long, '~(a+)+$', { ...options, regexTimeoutMs: 30 })
    expect(slow).toThrow(expect.objectContaining({ code: 'usage', message: expect.stringContaining('too long') }))
  })

  it('never throws anything but our errors', () => {
    const piece = fc.constantFrom(
      'web',
      'db1',
      '2001:db8::1',
      ':',
      ',',
      '!',
      '&',
      '~',
      '@',
      '[',
      ']',
      '(',
      '*',
      '1:2',
      '\\',
      '\0',
      ' ',
    )
    const pattern = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(piece).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(pattern, (text) => {
        try {
          expect(selectHosts(inventory, text, { cwd: '/here' }).length).toBeGreaterThan(0)
        } catch (thrown) {
          if (!(thrown instanceof DroverError)) throw thrown
          expect(thrown.code).not.toBe('internal')
        }
      }),
      { numRuns: 500 },
    )
  })

  it('selects what set algebra says', () => {
    const group = fc.constantFrom('web', 'db', 'prod', 'cache', 'ungrouped', 'lone', 'web3', 'db1')
    const term = fc.record({ role: fc.constantFrom('', '&', '!'), name: group, separator: fc.constantFrom(':', ',') })
    const isIn = (host: (typeof inventory.hosts)[number], name: string): boolean =>
      host.name === name || host.groups.includes(name)
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 6 }), (terms) => {
        const withRole = (role: string): string[] => terms.filter((one) => one.role === role).map((one) => one.name)
        const wanted = inventory.hosts.filter(
          (host) =>
            (withRole('').length === 0 || withRole('').some((name) => isIn(host, name))) &&
            withRole('&').every((name) => isIn(host, name)) &&
            !withRole('!').some((name) => isIn(host, name)),
        )
        const pattern = terms.map(({ role, name, separator }) => role + name + separator).join('')
        if (wanted.length === 0) expect(failure(pattern).code).toBe('pattern-no-match')
        else expect(select(pattern)).toBe(names(wanted).join(' '))
      }),
      { numRuns: 500 },
    )
  })
})
