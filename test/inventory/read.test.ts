import { describe, expect, it } from 'vitest'
import { readInventory } from '../../src/inventory/read.ts'
import { faultsOf, hostNamed, inputError, names, optionsWith, read, shown } from './reading.ts'

describe('readInventory', () => {
  it('gives a host with no settings the defaults', () => {
    expect(read('hosts: { web1: }').hosts).toEqual([
      {
        name: 'web1',
        address: 'web1',
        port: 22,
        user: 'me',
        identityFiles: [],
        become: false,
        given: [],
        jump: [],
        variant: 'host',
        offline: false,
        knownHostsFiles: [],
        hostKeyPolicy: 'strict',
        groups: ['all', 'ungrouped'],
        vars: {},
      },
    ])
  })

  it('resolves paths against the file and the home directory', () => {
    const files = {
      'sub/i.yaml': 'identity_file: [~/.ssh/a, b]\nknown_hosts: ../k\nhosts: { h: { identity_file: /abs } , g: }',
    }
    const inventory = readInventory(['sub/i.yaml'], optionsWith(files))
    expect(hostNamed(inventory, 'h').identityFiles).toEqual(['/abs'])
    expect(hostNamed(inventory, 'g')).toMatchObject({
      identityFiles: ['/home/me/.ssh/a', '/here/sub/b'],
      knownHostsFiles: ['/here/k'],
    })
  })

  it('reads a literal list', () => {
    const inventory = readInventory(['10.0.0.7, host1:2222,[2001:db8::1]:23,u@h,2001:db8::2,w[1:2],'], optionsWith({}))
    expect(inventory.hosts.map(({ name, port, user }) => `${user}@${name} ${port}`)).toEqual([
      'me@10.0.0.7 22',
      'me@host1 2222',
      'me@2001:db8::1 23',
      'u@h 22',
      'me@2001:db8::2 22',
      'me@w1 22',
      'me@w2 22',
    ])
  })

  it('merges sources, and what is said twice alike is no conflict', () => {
    const files = {
      'a.yaml': 'hosts: { a: { port: 23 } }',
      'b.yaml': 'groups: { g: { hosts: [a, b] } }\nhosts: { a: { port: 23 } }',
    }
    const inventory = readInventory(['a.yaml', 'b.yaml', 'b,'], optionsWith(files))
    expect(names(inventory.hosts)).toEqual(['a', 'b'])
    expect(hostNamed(inventory, 'a').groups).toEqual(['all', 'g'])
    expect(inventory.sources).toEqual(['a.yaml', 'b.yaml', 'b,'])
  })

  it('keeps the order of the file, also for names that are numbers', () => {
    expect(names(read('hosts: { b: , 10: , a: , 2: }').hosts)).toEqual(['b', '10', 'a', '2'])
  })

  it('reports the faults of all files at once, in order', () => {
    const files = {
      'a.yaml': 'usr: x\nhosts: { ok: { port: 70000 } }\n',
      'b.yaml': 'a: [\n',
      'd.yaml': 'hosts: { -x: }',
    }
    const { code, faults } = inputError(() =>
      readInventory(['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml', 'h:0,'], optionsWith(files)),
    )
    expect(code).toBe('inventory-invalid')
    const places = faults.map(({ file, line, column }) => `${file}:${line}:${column}`)
    expect(places).toEqual(['a.yaml:1:1', 'a.yaml:2:22', 'b.yaml:1:5', 'c.yaml:1:1', 'd.yaml:1:10', 'h:0,:1:1'])
    expect(faults.every((fault) => fault.remedy !== '')).toBe(true)
  })

  it.each([
    ['missing', ['gone'], {}, 'inventory-not-found', 'For a host write "gone,".'],
    ['empty', ['e.yaml'], { 'e.yaml': '' }, 'inventory-empty', 'Declare'],
    ['without hosts', ['e.yaml'], { 'e.yaml': '# none\nhosts: {}\n' }, 'inventory-empty', 'Declare'],
    ['a lone comma', [','], {}, 'inventory-empty', 'Declare'],
    ['no source', [], {}, 'inventory-empty', 'Declare'],
  ])('%s', (_, sources, files, code, remedy) => {
    const error = inputError(() => readInventory(sources, optionsWith(files as Record<string, string>)))
    expect(error.code).toBe(code)
    expect(error.faults).toHaveLength(1)
    expect(error.remedy).toContain(remedy)
  })

  it('refuses a directory', () => {
    const { code, faults } = inputError(() => readInventory(['.'], { defaultUser: 'me', cwd: '/', home: '/' }))
    expect(code).toBe('inventory-not-found')
    expect(faults[0]?.message).toBe('This is a directory.')
  })

  it('refuses what is not UTF-8 and says where', () => {
    const bytes = Buffer.concat([Buffer.from('hosts:\n  a'), Buffer.from([0xff, 0x0a])])
    const { code, faults } = inputError(() => readInventory(['x'], optionsWith({ x: bytes })))
    expect(code).toBe('inventory-invalid')
    expect(faults[0]).toMatchObject({ line: 2, column: 4 })
  })

  it('does not call a host unknown that may stand in a file it could not read', () => {
    const files = { 'a.yaml': 'groups: { g: { hosts: [x] } }' }
    const { faults } = inputError(() => readInventory(['a.yaml', 'gone.yaml'], optionsWith(files)))
    expect(faults.map((fault) => fault.file)).toEqual(['gone.yaml'])
  })

  it('reads 10,000 hosts with single looks at each', () => {
    const hosts = Array.from(
      { length: 10_000 },
      (_, n) => `  n${n}: { address: 10.9.${n >> 8}.${n & 255}, vars: { n: ${n} } }\n`,
    )
    const list = Array.from({ length: 10_000 }, (_, n) => `n${n}`).join(', ')
    const inventory = read(`hosts:\n${hosts.join('')}groups: { g: { hosts: [${list}], vars: { a: {} } } }\n`)
    expect(inventory.hosts).toHaveLength(10_000)
    // Shared, not copied: what 10,000 hosts have alike exists once.
    expect(inventory.hosts[0]?.vars.a).toBe(inventory.hosts[9999]?.vars.a)
  })

  it('gives one fault for a range, not one for each of its hosts', () => {
    expect(shown(faultsOf('hosts: { "n[1:20000]": { address: 10.0.0.7 } }'))).toHaveLength(1)
    expect(shown(faultsOf('hosts: { "-n[1:20000]": }'))).toHaveLength(1)
    expect(shown(faultsOf('hosts: { h: }\ngroups: { g: { hosts: ["n[1:20000]"] } }'))).toHaveLength(1)
  })

  it('takes 100,000 hosts and not one more', () => {
    expect(shown(faultsOf('hosts: { "n[1:100001]": }'))).toEqual(['1:10 This range is more than 100000 hosts.'])
    expect(shown(faultsOf('hosts: { "n[1:100000]": , one-more: }'))).toEqual([
      '1:27 From here on there are more than 100000 hosts.',
    ])
  })
})
