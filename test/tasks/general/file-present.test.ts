import { expect, test } from 'vitest'
import { diffOf, summaryOf } from '../../../src/changes/describe.ts'
import { Secret } from '../../../src/secret.ts'
import { filePresent } from '../../../src/tasks/general/file-present.ts'
import type { HostLiteral } from '../host-state.ts'
import { faultsOf, paramsOf, planOn, type Result, refusal, result, stateFor } from './planning.ts'

const motd = { path: '/etc/motd', content: 'hello\n' }
const written = ['write /etc/motd (0644 root:root, 6 bytes)']

test.each<[what: string, params: Record<string, string>, host: HostLiteral, result: Result]>([
  ['a missing file is written', {}, {}, written],
  ['the same content with mode and owner is left alone', {}, { paths: { '/etc/motd': { file: 'hello\n' } } }, []],
  ['other content is written over', {}, { paths: { '/etc/motd': { file: 'hello' } } }, written],
  [
    'a wrong mode alone is set',
    {},
    { paths: { '/etc/motd': { file: 'hello\n', mode: 0o666 } } },
    ['set /etc/motd to 0644 root:root'],
  ],
  [
    'a wrong owner alone is set',
    {},
    { paths: { '/etc/motd': { file: 'hello\n', uid: 7 } } },
    ['set /etc/motd to 0644 root:root'],
  ],
  ['numbers name an owner, too', { owner: '7:0' }, { paths: { '/etc/motd': { file: 'hello\n', uid: 7 } } }, []],
  ['a directory is in the way', {}, { paths: { '/etc/motd': { dir: true } } }, { blocked: 'path-in-the-way' }],
  [
    'a link is never replaced, even to a file that is right',
    {},
    { paths: { '/etc/motd': { link: '/m' }, '/m': { file: 'hello\n' } } },
    { blocked: 'path-in-the-way' },
  ],
  ['a socket is in the way', {}, { paths: { '/etc/motd': 'other' } }, { blocked: 'path-in-the-way' }],
  ['no directory, no file', {}, { paths: { '/etc': 'absent' } }, { blocked: 'precondition-unmet' }],
  ['a file above the path is in the way', {}, { paths: { '/etc': { file: '' } } }, { blocked: 'path-in-the-way' }],
  [
    'a link to nothing above the path is in the way',
    {},
    { paths: { '/etc': { link: '/gone' }, '/gone': 'absent' } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'links above the path lead to the real place',
    {},
    { paths: { '/etc': { link: 'mnt/etc' }, '/mnt/etc': { dir: [] } } },
    ['write /mnt/etc/motd (0644 root:root, 6 bytes)'],
  ],
  [
    'a read-only file system takes no file',
    {},
    { mounts: { '/etc/motd': { readOnly: true } } },
    { blocked: 'precondition-unmet' },
  ],
  ['nor does a full one', {}, { mounts: { '/etc/motd': { freeBytes: 5 } } }, { blocked: 'precondition-unmet' }],
  ['nor one without inodes', {}, { mounts: { '/etc/motd': { freeInodes: 0 } } }, { blocked: 'precondition-unmet' }],
  ['unless it counts none', {}, { mounts: { '/etc/motd': { freeInodes: 0, fsType: 'btrfs' } } }, written],
  [
    'on a read-only file system a right file is right',
    {},
    { mounts: { '/etc/motd': { readOnly: true } }, paths: { '/etc/motd': { file: 'hello\n' } } },
    [],
  ],
  [
    'a mounted file cannot be renamed over',
    {},
    { mounts: { '/etc/motd': { mountPoint: '/etc/motd' } }, paths: { '/etc/motd': { file: '' } } },
    { blocked: 'precondition-unmet' },
  ],
])('%s', (_, params, host, expected) => {
  expect(result(filePresent, { ...motd, ...params }, host)).toEqual(expected)
})

test('systemd is told of a unit file, also where it is reached through a link', () => {
  const unit = { path: '/lib/systemd/system/x.service', content: '[Service]\n' }
  expect(
    result(filePresent, unit, { paths: { '/lib': { link: 'usr/lib' }, '/usr/lib/systemd/system': { dir: [] } } }),
  ).toEqual(['write /usr/lib/systemd/system/x.service (0644 root:root, 10 bytes)', 'systemctl daemon-reload'])
})

test('what would change in the file is shown, but not of a file that was not read to its end', () => {
  const diff = (old: string): string | undefined => {
    const params = paramsOf(filePresent, motd)
    const state = stateFor(filePresent, params, { paths: { '/etc/motd': { file: old } } })
    const node = state.tree.nodes.get('/etc/motd')
    // As the host answers: at most as much content as was asked for.
    const cut = {
      ...state,
      tree: {
        nodes: new Map(state.tree.nodes).set('/etc/motd', {
          ...node,
          content: (node as { content: Uint8Array }).content.slice(0, 65_536),
        } as never),
      },
    }
    const planned = planOn(filePresent, params, cut)
    return planned.status === 'planned' && planned.changes[0] !== undefined
      ? diffOf(cut, planned.changes[0])
      : undefined
  }
  expect(diff('bye\n')).toContain('-bye\n+hello\n')
  expect(diff('x'.repeat(70_000))).toBeUndefined()
})

test('a missing parent is named with the step that makes it', () => {
  expect(refusal(filePresent, { ...motd, path: '/srv/a/b/c' }, { paths: { '/srv/a': 'absent' } })).toBe(
    '/srv/a/b/c cannot be made: there is no /srv/a, no /srv/a/b. Add a step directory-present for /srv/a/b before this one, with parents: true to have all that are missing made.',
  )
})

test('a secret leaves no trace but its digest, and is for root alone unless the step says more', () => {
  const input = { path: '/etc/token', content: new Secret('hunter2') }
  const params = paramsOf(filePresent, input)
  expect(filePresent.facts(params, {} as never)[0]).toEqual({
    kind: 'path',
    path: '/etc/token',
    sha256: true,
    secret: true,
  })
  const state = stateFor(filePresent, params, { paths: { '/etc/token': { file: 'hunter1' } } })
  const planned = planOn(filePresent, params, state)
  const changes = planned.status === 'planned' ? planned.changes : []
  expect(changes.map(summaryOf)).toEqual(['write /etc/token (0600 root:root, 7 bytes)'])
  expect(JSON.stringify([planned, changes.map((change) => diffOf(state, change))])).not.toMatch(/hunter/)
  expect(result(filePresent, { ...input, mode: '0640' }, {})).toEqual(['write /etc/token (0640 root:root, 7 bytes)'])
})

test('what one step holds for secret another does not show, by whatever name', () => {
  const open = paramsOf(filePresent, { path: '/run/tokens/t', content: 'x' })
  const state = {
    ...stateFor(filePresent, open, {
      paths: { '/run/tokens': { link: '/etc/tokens' }, '/etc/tokens/t': { file: 'hunter1' } },
    }),
    secretPaths: new Set(['/run/tokens/t']),
  }
  const planned = planOn(filePresent, open, state)
  const [write] = planned.status === 'planned' ? planned.changes : []
  expect(write).toMatchObject({ kind: 'write', path: '/etc/tokens/t' })
  expect(write && diffOf(state, write)).not.toMatch(/hunter/)
})

test.each<[params: Record<string, unknown>, fault: RegExp]>([
  [{ mode: 644 }, /without quotes is a number/],
  [{ mode: '0899' }, /octal/],
  [{ mode: '07777777' }, /octal/],
  [{ owner: 'root' }, /no owner/],
  [{ owner: 'root:root:root' }, /no owner/],
  [{ owner: '-R:root' }, /no owner/],
  [{ path: 'etc/motd' }, /no path/],
  [{ path: '/' }, /no path/],
  [{ path: '/etc/../motd' }, /no path/],
  [{ path: '/etc/motd/' }, /no path/],
  [{ path: `/${'a'.repeat(256)}` }, /too long/],
  [{ content: 5 }, /neither a text nor a secret/],
  [{ content: new Secret('x'), mode: '0644' }, /everyone/],
  [{ contents: 'x' }, /unknown key contents/],
])('%j is refused before any host is touched', (params, fault) => {
  expect(faultsOf(filePresent as never, { ...motd, ...params } as never).join('\n')).toMatch(fault)
})
