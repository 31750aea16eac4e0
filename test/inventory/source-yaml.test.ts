import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InputError } from '../../src/errors.ts'
import { faultsOf, inputError, read, shown } from './reading.ts'

/** Each line: a file, and the one fault it has. */
const table: [text: string, fault: string, remedy: string][] = [
  ['hosts: { a: { prot: 1 } }', '1:15 "prot" is not a key', 'Did you mean port?'],
  ['hosts: { a: { zzzzzz: 1 } }', '1:15 "zzzzzz" is not a key', 'The keys here are: address, port'],
  ['hosts: { a: { ansible_host: x } }', '1:15 "ansible_host"', 'this is address:'],
  ['hosts: { a: }\nall: {}', '2:1 "all" is not a key', 'without all:'],
  ['hosts: { a: }\ngroups: { g: { address: x } }', '2:16 "address"', 'belongs to one host'],
  ['hosts: { a: { port: 70000 } }', '1:21 70000 is too large.', '65535'],
  ['hosts: { a: { port: 0 } }', '1:21 0 is too small.', '1'],
  ['hosts: { a: { port: "22" } }', '1:21 The text "22" stands where a number belongs.', 'Write a number.'],
  ['hosts: { a: { port: 2.5 } }', '1:21 2.5 stands where a whole number belongs.', 'whole'],
  ['hosts: { a: { port: } }', '1:21 Nothing stands', 'number'],
  ['become: yes\nhosts: { a: }', '1:9 The text "yes"', 'true or false'],
  ['variant: vm\nhosts: { a: }', '1:10 The text "vm" is not allowed', 'host, container'],
  ['host_key_policy: none\nhosts: { a: }', '1:18 The text "none"', 'strict, accept-new, off'],
  ['user: "-oProxyCommand=x"\nhosts: { a: }', '1:7 The user "-oProxyCommand=x" begins with -', 'begins with a letter'],
  ['user: a b\nhosts: { a: }', '1:7 "a b" cannot be a user.', 'Use letters'],
  ['hosts: { a: { address: -x } }', '1:24 The address "-x" begins', 'begins with a letter'],
  ['hosts: { a: { address: "10.0.0.7:22" } }', '1:24 "10.0.0.7:22" cannot be an address', 'port:'],
  ['hosts: { a: { address: "[::1]" } }', '1:24 "[::1]" cannot', 'Write ::1 without brackets.'],
  ['hosts: { a: { address: "" } }', '1:24 The address is empty.', 'Write an address'],
  ['known_hosts: ~other/x\nhosts: { a: }', '1:14 This cannot be a path.', 'absolute'],
  ['identity_file: [a, 5]\nhosts: { a: }', '1:20 5 stands where a text belongs.', 'text'],
  ['vars: [a]\nhosts: { a: }', '1:7 A list stands where a mapping belongs.', 'mapping'],
  ['hosts: { a: }\nhosts: { b: }', '2:1 The key "hosts" is given twice.', 'Keep one'],
  ['hosts:\n  a:\n  b:\n  a:', '4:3 The key "a" is given twice.', 'Keep one'],
  ['hosts:\n  b: &x { port: 1 }\n  a: { <<: *x }', '3:8 Merge keys (<<) are not supported.', 'settings of a group'],
  ['hosts: { a: { vars: { __proto__: { x: 1 } } } }', '1:23 __proto__ cannot be a key.', 'another'],
  ['__proto__: { x: 1 }\nhosts: { a: }', '1:1 __proto__', 'another'],
  ['hosts: { a: { vars: { m: 0644 } } }', '1:26 0644 would be read as the number 644.', '"0644"'],
  ['hosts: { a: { vars: { v: 1.10 } } }', '1:26 1.10 would be read as the number 1.1.', '"1.10"'],
  ['hosts: { a: { vars: { v: .inf } } }', '1:26 .inf', 'number'],
  ['hosts: { a: { vars: { v: 12345678901234567890 } } }', '1:26 12345678901234567890', 'text'],
  ['hosts: { a: { vars: { v: !vault x } } }', '1:26 Unresolved tag: !vault.', 'Remove the tag'],
  ['hosts: { a: *x }', '1:13 No anchor &x stands before', 'Define'],
  ['hosts: { a: { vars: { v: &v [*v] } } }', '1:30 &v contains itself.', 'Write the value out.'],
  ['hosts:\n\ta: {}', '2:1 Tabs are not allowed as indentation.', 'spaces'],
  ['%YAML 1.1\n---\nhosts: { a: }', '1:1 The file asks for YAML 1.1.', '%YAML'],
  ['hosts: { a: }\n---\nhosts: { b: }', '2:1 The file holds several YAML documents.', 'one document'],
  ['hosts: { a: { vars: { v: "\u0007" } } }', '1:27 The file holds the control character U+0007.', 'Remove'],
  ['? [a]\n: 1', '1:3 A key is not a plain text.', 'text'],
  ['password: hunter2\nhosts: { a: }', '1:11 This secret does not say where it comes from.', '!secret env:NAME'],
  ['become_password: !secret hunter2\nhosts: { a: }', '1:26 This secret does not say', '!secret env:NAME'],
  ['[a, b]', '1:1 The file is not a mapping.', 'mapping'],
  ['just text', '1:1 The file is not a mapping.', 'mapping'],
  ['hosts: 5', '1:8 "hosts" is not a mapping or a list.', 'mapping or a list'],
  ['hosts: { a: 5 }', '1:13 "a" is not a mapping.', 'mapping'],
  ['hosts: { a: }\ngroups: [a]', '2:9 "groups" is not a mapping.', 'mapping'],
  ['hosts: { a: }\ngroups: { g: { children: { a: } } }', '2:26 "children" is not a list.', 'list'],
  ['hosts: [a, 5]', '1:12 A name in a list is a text.', 'quotes'],
]

describe('the YAML format', () => {
  it.each(table)('%j', (text, fault, remedy) => {
    const faults = faultsOf(text)
    expect(shown(faults)).toEqual([expect.stringContaining(fault)])
    expect(faults[0]?.remedy).toContain(remedy)
  })

  it('shows the faults of one file all at once', () => {
    const text = table
      .slice(0, 1)
      .map(([one]) => one)
      .join('') // a host with an unknown key
    const faults = shown(faultsOf(`port: 70000\n${text}\ngroups: { g: { children: [no], hosts: [no] } }\nusr: x`))
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(['1:7', '2:15', '3:27', '3:40', '4:1'])
  })

  it('takes plain anchors and aliases, and off as the text it is', () => {
    const { hosts } = read('host_key_policy: off\nhosts:\n  a: &x { port: 23, vars: { l: &l [1], m: *l } }\n  b: *x')
    expect(hosts.map(({ port, vars, hostKeyPolicy }) => [port, vars.m, hostKeyPolicy])).toEqual([
      [23, [1], 'off'],
      [23, [1], 'off'],
    ])
  })

  it('refuses aliases that stand for a million values, without making them', () => {
    const level = (n: number): string =>
      `  v${n}: &v${n} [${Array(10)
        .fill(`*v${n - 1}`)
        .join(', ')}]\n`
    const text = `hosts: { a: }\nvars:\n  v0: &v0 [1, 2, 3]\n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(level).join('')}`
    expect(shown(faultsOf(text))).toEqual([expect.stringContaining('stand for more than 100000 values')])
  })

  it('refuses nesting that would overflow the stack', () => {
    const nested = `hosts: { a: }\nvars: { v: ${'['.repeat(20_000)}`
    expect(shown(faultsOf(nested)).join()).toContain('nested too deeply')
  })

  it('leaves prototypes alone', () => {
    const { hosts } = read('hosts: { constructor: { vars: { toString: 1, constructor: 2 } }, b: }')
    expect(hosts[0]).toMatchObject({ name: 'constructor', vars: { constructor: 2, toString: 1 } })
    expect(hosts[1]?.vars.constructor).toBeUndefined()
    inputError(() => read('hosts: { a: }\nvars: { __proto__: { polluted: 1 } }'))
    expect({}).not.toHaveProperty('polluted')
  })

  it('puts every fault inside the file, whatever the file holds', () => {
    const token = fc.constantFrom(
      'hosts:',
      'groups:',
      ' a:',
      ' b: ',
      '\n',
      '\n  ',
      '\n    ',
      '{',
      '}',
      '[',
      ']',
      ',',
      ' port: 70000',
      ' *x',
      ' &x',
      '<<: ',
      '"',
      "'",
      '- ',
      '\t',
      '#',
      '|',
      '>',
      '? ',
      ': ',
      '!t ',
      '---',
      '...',
      '%',
      '\ufeff',
      'ü',
      '\r\n',
      '\0',
      '1.10',
      'jump: b',
      'children: [a]',
    )
    const text = fc.oneof(
      fc.array(token, { maxLength: 30 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(text, (content) => {
        try {
          expect(read(content).hosts.length).toBeGreaterThan(0)
        } catch (thrown) {
          if (!(thrown instanceof InputError)) throw thrown
          const lines = content.split('\n')
          for (const { line = 0, column = 0, remedy } of thrown.faults) {
            expect(line).toBeGreaterThanOrEqual(1)
            expect(line).toBeLessThanOrEqual(lines.length)
            expect(column).toBeGreaterThanOrEqual(1)
            expect(column).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1)
            expect(remedy).not.toBe('')
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
