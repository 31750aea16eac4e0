import { expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { diffOf, summaryOf } from '../../src/changes/describe.ts'
import { Unknown } from '../../src/facts/unknown.ts'
import { Secret } from '../../src/secret.ts'
import { hostState } from '../tasks/host-state.ts'

test.each<[Change, string]>([
  [{ kind: 'write', path: '/a', content: 'é', mode: 0o644, owner: 'root:root' }, 'write /a (0644 root:root, 2 bytes)'],
  [{ kind: 'link', path: '/l', target: '../x' }, 'link /l -> ../x'],
  [{ kind: 'directory', path: '/d', mode: 0o2755, owner: 'a:b' }, 'create directory /d (2755 a:b)'],
  [{ kind: 'attributes', path: '/d', mode: 0o7, owner: 'a:b' }, 'set /d to 0007 a:b'],
  [{ kind: 'remove', path: '/f', recurse: false }, 'remove /f'],
  [{ kind: 'remove', path: '/d', recurse: true }, 'remove /d and all in it'],
  [{ kind: 'systemctl', verb: 'daemon-reload' }, 'systemctl daemon-reload'],
  [{ kind: 'systemctl', verb: 'restart', unit: 'a.service' }, 'systemctl restart a.service'],
  [{ kind: 'package', install: ['a', 'b'], manager: 'dnf' }, 'install a, b with dnf'],
  [
    { kind: 'await', condition: { unit: 'a.service', is: 'active' }, withinMs: 9, stableMs: 4500 },
    'wait until a.service is active for 4.5 s',
  ],
  [
    {
      kind: 'await',
      condition: { url: 'https://user:hunter2@h.example:8443/x@y?sig=abc#d', is: 'answering', timeoutS: 1 },
      withinMs: 9,
      stableMs: 0,
    },
    'wait until https://h.example:8443/x@y answers',
  ],
  [
    { kind: 'await', condition: { url: 'http:user@h/', is: 'answering', timeoutS: 1 }, withinMs: 9, stableMs: 0 },
    'wait until http:h/ answers',
  ],
  [
    { kind: 'await', condition: { machine: 'kube1', is: 'running' }, withinMs: 9, stableMs: 0 },
    'wait until machine kube1 is running',
  ],
  [
    { kind: 'await', condition: { unit: 'a.service', is: 'untouched', mainPid: '1' }, withinMs: 9, stableMs: 0 },
    'wait until a.service is seen to be untouched',
  ],
  [
    {
      kind: 'await',
      condition: { unit: 'a.service', is: 'startable', below: 1, windowS: 1 },
      withinMs: 9,
      stableMs: 0,
    },
    'wait until a.service has room for a start',
  ],
  [
    { kind: 'run', argv: ['/bin/x', '--a=b', 'two words', ''], timeoutMs: 1, spoils: [] },
    'run /bin/x --a=b "two words" ""',
  ],
])('%j', (change, summary) => expect(summaryOf(change)).toBe(summary))

const write = (path: string, content: string | Secret): Change => ({
  kind: 'write',
  path,
  content,
  mode: 0o644,
  owner: 'root:root',
})

test('a new file is all plus, a changed one shows what goes and what comes', () => {
  const state = hostState({ paths: { '/f': { file: 'a\nb\n' } } }, [{ kind: 'path', path: '/new' }])
  expect(diffOf(state, write('/new', 'a\n'))).toBe('--- /dev/null\n+++ /new\n@@ -0,0 +1,1 @@\n+a\n')
  expect(diffOf(state, write('/f', 'a\nc\n'))).toBe('--- /f\n+++ /f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n')
})

test.each<[string, Change]>([
  ['nothing but a write has one', { kind: 'link', path: '/f', target: 'x' }],
  ['a file whose content nobody read', write('/unread', 'x')],
  ['a file of which only the beginning was read', write('/long', 'x')],
])('no diff: %s', (_, change) => {
  const base = hostState({ paths: { '/f': { file: 'a' }, '/unread': { file: 'a' }, '/long': { file: 'a' } } })
  const nodes = new Map(base.tree.nodes)
  const { content: _content, ...unread } = nodes.get('/unread') as { content: unknown }
  nodes.set('/unread', unread as never).set('/long', { ...(nodes.get('/long') as object), size: 1000 } as never)
  expect(diffOf({ ...base, tree: { nodes } }, change)).toBeUndefined()
})

test('of a secret nothing, not even a digest', () => {
  const state = hostState({ paths: { '/f': { file: 'old' }, '/u': new Unknown('x') } })
  expect(diffOf(state, write('/f', new Secret('new')))).toBe('content is secret: it becomes another\n')
  expect(diffOf(state, write('/u', new Secret('new')))).toBe('content is secret: nothing is known of what is there\n')
})
