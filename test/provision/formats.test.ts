import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { butane } from '../../src/provision/butane.ts'
import { cloudConfig } from '../../src/provision/cloud-config.ts'
import type { HostFile, Provisioned } from '../../src/provision/host-files.ts'
import { ignition } from '../../src/provision/ignition.ts'
import { ignitionFaults } from '../../src/provision/ignition-schema.ts'
import { Secret } from '../../src/secret.ts'

const file = (path: string, mode: number, text: string): HostFile => ({
  path,
  mode,
  content: new Secret(text),
  encoding: 'utf8',
})
const binary = Buffer.from([0, 255, 128, 10])
const given: Provisioned = {
  directories: [{ path: '/etc/d', mode: 0o700 }],
  files: [
    file('/etc/d/a', 0o600, 'one\n  two: "x"\n'),
    { path: '/etc/d/b', mode: 0o700, content: new Secret(binary.toString('base64')), encoding: 'base64' },
  ],
  authorizedKeys: ['ssh-ed25519 AAAA a'],
  merge: new Secret('{"ignition":{"version":"3.3.0"}}'),
}
const unit = { name: 'aks-flex-node-bootstrap.service', enabled: true }
const bytesIn = (url: string): Buffer => Buffer.from(url.replace(/^data:;base64,/, ''), 'base64')

test('Ignition 3.4.0 has everything in it', () => {
  const config = JSON.parse(ignition(given).reveal())
  expect(config.ignition.version).toBe('3.4.0')
  expect(bytesIn(config.ignition.config.merge[0].source).toString()).toBe('{"ignition":{"version":"3.3.0"}}')
  expect(config.passwd).toEqual({ users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA a'] }] })
  expect(config.storage.directories).toEqual([{ path: '/etc/d', mode: 448 }])
  const [a, b] = config.storage.files
  expect([a, b]).toMatchObject([
    { path: '/etc/d/a', overwrite: true, mode: 384 },
    { path: '/etc/d/b', overwrite: true, mode: 448 },
  ])
  expect(bytesIn(a.contents.source).toString()).toBe('one\n  two: "x"\n')
  expect(bytesIn(b.contents.source)).toEqual(binary)
  expect(config.systemd.units).toMatchObject([unit])
  expect(ignitionFaults(config)).toEqual([])
})

test('nobody is let in, and nothing merged, unless it is given', () => {
  const config = JSON.parse(ignition({ ...given, authorizedKeys: [], merge: null }).reveal())
  expect(Object.keys(config)).toEqual(['ignition', 'storage', 'systemd'])
  expect(config.ignition).toEqual({ version: '3.4.0' })
})

test('the Butane config says the same, to be read', () => {
  const text = butane(given).reveal()
  expect(text).toMatch(/^variant: flatcar\nversion: 1\.1\.0\n/)
  expect(text).toContain('      mode: 0700\n')
  expect(text).toContain('        inline: |\n          one\n            two: "x"\n')
  const config = parse(text, { version: '1.1' })
  expect(config.ignition.config.merge).toEqual([{ inline: '{"ignition":{"version":"3.3.0"}}' }])
  expect(config.passwd.users).toEqual([{ name: 'core', ssh_authorized_keys: ['ssh-ed25519 AAAA a'] }])
  expect(config.storage.files).toEqual([
    { path: '/etc/d/a', overwrite: true, mode: 0o600, contents: { inline: 'one\n  two: "x"\n' } },
    { path: '/etc/d/b', overwrite: true, mode: 0o700, contents: { source: 'data:;base64,AP+ACg==' } },
  ])
  const fromJson = JSON.parse(ignition(given).reveal())
  expect(config.systemd.units).toEqual(fromJson.systemd.units)
})

test('cloud-init makes the directories before it writes, once, and starts the unit without waiting for it', () => {
  const text = cloudConfig(given).reveal()
  expect(text).toMatch(/^#cloud-config\n/)
  const config = parse(text, { version: '1.1' })
  expect(config.bootcmd).toEqual([['cloud-init-per', 'once', 'drover-etc-d', 'install', '-d', '-m', '0700', '/etc/d']])
  expect(config.write_files).toMatchObject([
    { path: '/etc/d/a', owner: 'root:root', permissions: '0600', encoding: 'b64' },
    { path: '/etc/d/b', owner: 'root:root', permissions: '0700', encoding: 'b64', content: 'AP+ACg==' },
    { path: '/etc/systemd/system/aks-flex-node-bootstrap.service', permissions: '0644' },
  ])
  const fromJson = JSON.parse(ignition(given).reveal())
  expect(Buffer.from(config.write_files[2].content, 'base64').toString()).toBe(fromJson.systemd.units[0].contents)
  expect(config.runcmd).toEqual([
    ['systemctl', 'daemon-reload'],
    ['systemctl', 'enable', '--now', '--no-block', 'aks-flex-node-bootstrap.service'],
  ])
  expect(config.ssh_authorized_keys).toEqual(['ssh-ed25519 AAAA a'])
})

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(...'\n\n \t#:-|>\'"\\%{}[]&*!ayn0~\u0085\u2028é😀'), maxLength: 60 }),
)

test('any text is the same in all three', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const one = { ...given, files: [file('/f', 0o600, text)] }
      const asButane = parse(butane(one).reveal(), { version: '1.1' }).storage.files[0].contents.inline
      const asIgnition = bytesIn(JSON.parse(ignition(one).reveal()).storage.files[0].contents.source).toString()
      const asUserData = Buffer.from(parse(cloudConfig(one).reveal()).write_files[0].content, 'base64').toString()
      expect([asButane, asIgnition, asUserData]).toEqual([text, text, text])
    }),
    { numRuns: 500 },
  )
})

describe('the schema refuses', () => {
  const base = { ignition: { version: '3.4.0' } }
  const path = '/f'
  test.each([
    ['no version', { ignition: {} }, "/ignition must have required property 'version'"],
    ['another version', { ignition: { version: '3.5.0' } }, '/ignition/version must be equal to constant'],
    ['a key that is not known', { ...base, files: [] }, '/ must NOT have additional properties'],
    [
      'a path that is not absolute',
      { ...base, storage: { files: [{ path: 'f' }] } },
      '/storage/files/0/path must match',
    ],
    [
      'a mode as a text',
      { ...base, storage: { files: [{ path, mode: '0600' }] } },
      '/storage/files/0/mode must be integer',
    ],
    [
      'a mode with too many bits',
      { ...base, storage: { files: [{ path, mode: 33152 }] } },
      '/storage/files/0/mode must be <=',
    ],
    [
      'contents inline',
      { ...base, storage: { files: [{ path, contents: { inline: '' } }] } },
      '/storage/files/0/contents must NOT',
    ],
    ['a unit of no kind', { ...base, systemd: { units: [{ name: 'x' }] } }, '/systemd/units/0/name must match'],
    [
      'a unit without a name',
      { ...base, systemd: { units: [{}] } },
      "/systemd/units/0 must have required property 'name'",
    ],
  ])('%s', (_, config, message) => {
    expect(ignitionFaults(config).join('\n')).toContain(message)
  })
  test('and takes all sections that there are', () => {
    expect(
      ignitionFaults({
        ...base,
        kernelArguments: { shouldExist: ['quiet'] },
        passwd: { users: [{ name: 'core', groups: ['sudo'] }], groups: [{ name: 'g' }] },
        storage: {
          disks: [{ device: '/dev/sda', partitions: [{ number: 1, sizeMiB: 0 }] }],
          filesystems: [{ device: '/dev/sda1', format: 'ext4', path: '/var' }],
          links: [{ path: '/a', target: '/b', hard: false }],
        },
        systemd: { units: [{ name: 'a@b.service', mask: true, dropins: [{ name: '10.conf', contents: '' }] }] },
      }),
    ).toEqual([])
  })
})
