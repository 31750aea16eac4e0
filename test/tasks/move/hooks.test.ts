import { describe, expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { LEGACY, ROOT } from '../../../src/tasks/agent/paths.ts'
import { filesFacts } from '../../../src/tasks/move/files.ts'
import { hooksFacts, hooksTo } from '../../../src/tasks/move/hooks.ts'
import { type HostLiteral, hostState } from '../host-state.ts'
import { helperOf, linked, localDns, localDnsOf, moving1, override } from './moving.ts'

const changesOn = (host: HostLiteral, root: typeof ROOT | typeof LEGACY = ROOT) =>
  hooksTo(viewOf(hostState(host, [...hooksFacts(), ...filesFacts()])), root)
const none = {
  [override]: 'absent',
  '/etc/systemd/system/unbounded-agent-regenerate-config@kube1.service': 'absent',
  [localDns]: 'absent',
} as const
const withText = (file: string, more: HostLiteral['paths'] = {}): HostLiteral =>
  linked({ paths: { ...none, [override]: { file, mode: 0o600 }, ...more } })
const written = (file: string): string => {
  const changes = changesOn(withText(file))
  if ('code' in changes) return changes.code
  const [change] = changes
  return change === undefined ? file : change.kind === 'write' ? String(change.content) : change.kind
}

const [old, at] = [helperOf(LEGACY), helperOf(ROOT)]

describe('M6 exactly the path of the helper is replaced', () => {
  test.each([
    [`ExecStartPost=${old} nspawn-lifecycle post-start kube1`, `ExecStartPost=${at} nspawn-lifecycle post-start kube1`],
    [`ExecStartPre=-${old} x\nExecStop=+${old}`, `ExecStartPre=-${at} x\nExecStop=+${at}`],
    [`ExecStart="${old}" 'x'`, `ExecStart="${at}" 'x'`],
    [`a=${localDnsOf(LEGACY)};b=${old}`, `a=${localDnsOf(ROOT)};b=${at}`],
    [`\t[Service] \r\nX=${old}\r\n\n`, `\t[Service] \r\nX=${at}\r\n\n`],
    [`#ü€😀 ${old} ü`, `#ü€😀 ${at} ü`],
  ])('%j', (before, after) => expect(written(before)).toBe(after))

  test.each([
    `${old}-of-mine`,
    `${old}/x`,
    `${old}.bak`,
    `/host${old}`,
    `ExecStart=/usr/local/bin/other nspawn-lifecycle`,
    'ExecStart=/usr/local/libexec/unbounded',
    at,
    '',
  ])('%j is left as it is', (text) => expect(changesOn(withText(text))).toEqual([]))
})

test('M6 mode and owner stay, and no unit is left unknown by it', () => {
  expect(changesOn(withText(`X=${old}\n`))).toEqual([
    {
      kind: 'write',
      path: override,
      content: `X=${at}\n`,
      mode: 0o600,
      owner: 'root:root',
      model: { unit: 'systemd-nspawn@kube1.service' },
    },
  ])
})

test('M6 a helper that is not there, and is not brought, is not named', () => {
  const host = linked({ paths: { [localDnsOf(LEGACY)]: 'absent' } })
  const changes = changesOn(host)
  expect('code' in changes ? changes.code : changes.map((change) => 'path' in change && change.path)).toEqual([
    override,
    '/etc/systemd/system/unbounded-agent-regenerate-config@kube1.service',
  ])
})

test('31: back on the old root where the move is put back', () => {
  const host = moving1({ paths: { ...none, [override]: { file: `X=${at}\n` } } })
  expect(changesOn(host, LEGACY)).toMatchObject([{ path: override, content: `X=${old}\n` }])
})

describe('M6 what could not be written with all else kept is refused', () => {
  test.each<[what: string, host: HostLiteral]>([
    ['longer than what is read', withText(`X=${old}\n${'#'.repeat(65_536)}`)],
    ['not UTF-8', withText(`X=${old}\n\uFFFD`)],
    ['a link', withText('', { [override]: { link: '/data/override.conf' }, '/data/override.conf': { file: old } })],
  ])('%s', (_, host) => expect(changesOn(host)).toMatchObject({ code: 'layout-unknown' }))
})
