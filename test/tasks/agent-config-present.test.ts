import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffOf, summaryOf } from '../../src/changes/describe.ts'
import { Secret } from '../../src/secret.ts'
import { agentConfigPresent } from '../../src/tasks/agent-config-present.ts'
import { secretText } from '../changes/every.ts'
import { valid, withToken } from './config/valid.ts'
import { runningHost } from './deployed.ts'
import { faultsOf, paramsOf, planOn, predicted, type Result, result, stateFor } from './general/planning.ts'
import type { HostLiteral, PathLiteral } from './host-state.ts'

const file = '/etc/aks-flex-node/config.json'
const config = withToken as never
const text = JSON.stringify(withToken)
const directories: Record<string, PathLiteral> = {
  '/etc/aks-flex-node': { dir: true },
  '/var/lib/aks-flex-node': { dir: true },
  '/var/log/aks-flex-node/aks-flex-node.log': { file: '' },
}
const has = (content: string, mode = 0o600): HostLiteral => ({
  paths: { ...directories, [file]: { file: content, mode } },
})
const write = expect.stringMatching(/^write \/etc\/aks-flex-node\/config\.json \(0600 root:root, /)
const wanted = { config }

const rows: readonly [what: string, input: Record<string, never>, literal: HostLiteral, result: unknown][] = [
  [
    'a bare host',
    wanted as never,
    {},
    [
      'create directory /etc/aks-flex-node (0755 root:root)',
      'create directory /var/lib/aks-flex-node (0755 root:root)',
      'create directory /var/log/aks-flex-node (0755 root:root)',
      'write /var/log/aks-flex-node/aks-flex-node.log (0644 root:root, 0 bytes)',
      write,
    ],
  ],
  ['the same configuration', wanted as never, has(text), []],
  ['the same in another form', wanted as never, has(JSON.stringify(withToken, null, 7)), []],
  ['the same, open to others', wanted as never, has(text, 0o644), [`set ${file} to 0600 root:root`]],
  [
    'another one, kept beside',
    wanted as never,
    has('{}'),
    [expect.stringMatching(/^copy .* to .*drover-backup \(0600/), write],
  ],
  [
    'another one that is kept already',
    wanted as never,
    { paths: { ...has('{}').paths, [`${file}.drover-backup`]: { file: '{}' } } },
    [write],
  ],
  [
    'a directory that others may write to',
    wanted as never,
    { paths: { ...has(text).paths, '/etc/aks-flex-node': { dir: true, mode: 0o777 } } },
    ['set /etc/aks-flex-node to 0755 root:root'],
  ],
  ['nothing given, and a valid one there', {}, has(text), []],
  ['nothing given, and one that others can read', {}, has(text, 0o644), [`set ${file} to 0600 root:root`]],
  [
    'nothing given, and one of another user',
    {},
    { paths: { ...directories, [file]: { file: text, mode: 0o600, uid: 1000 } } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'nothing given, and a link there',
    {},
    { paths: { ...directories, [file]: { link: '/srv/config.json' }, '/srv/config.json': { file: text } } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'an agent with one that others can read',
    {},
    runningHost({ paths: { [file]: { file: text, mode: 0o644 } } }),
    [`set ${file} to 0600 root:root`],
  ],
  [
    'a first boot under way',
    wanted as never,
    { units: { 'aks-flex-node-bootstrap.service': { ActiveState: 'activating' } } },
    { blocked: 'precondition-unmet' },
  ],
  ['nothing given, and none there', {}, {}, { blocked: 'config-invalid' }],
  ['nothing given, and a bad one there', {}, has('{"azure":{}}'), { blocked: 'config-invalid' }],
  ['nothing given, and no JSON there', {}, has('{'), { blocked: 'config-invalid' }],
  [
    'a link in its place',
    wanted as never,
    { paths: { [file]: { link: '/srv/config.json' } } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'a backup that is a link',
    wanted as never,
    { paths: { ...has('{}').paths, [`${file}.drover-backup`]: { link: '/etc/shadow' } } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'a file where its directory belongs',
    wanted as never,
    { paths: { '/var/lib/aks-flex-node': { file: '' } } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'a read-only /etc',
    wanted as never,
    { mounts: { '/etc/aks-flex-node': { readOnly: true } } },
    { blocked: 'precondition-unmet' },
  ],
  ['an agent with the same', wanted as never, runningHost({ paths: { [file]: { file: text, mode: 0o600 } } }), []],
  [
    'an agent with another',
    wanted as never,
    runningHost({ paths: { [file]: { file: '{}', mode: 0o600 } } }),
    { blocked: 'already-installed' },
  ],
  ['no root rights', wanted as never, { os: { uid: 1000 } }, { blocked: 'inspect-failed' }],
]

test.each(rows)('%s', (_, input, literal, expected) => {
  expect(result(agentConfigPresent, input, literal)).toEqual(expected)
})

const secretPath = '/etc/aks-flex-node/credentials/sp-client-secret'
const principal = valid['service principal'] as never

test('a secret comes before the configuration that names it, in a directory of root alone', () => {
  const lines = result(
    agentConfigPresent,
    { config: principal, secret_files: [{ path: secretPath, content: new Secret('s3cret') }] } as never,
    {
      paths: directories,
    },
  ) as string[]
  expect(lines).toEqual([
    'create directory /etc/aks-flex-node/credentials (0700 root:root)',
    `write ${secretPath} (0600 root:root, 6 bytes)`,
    write,
  ])
})

const there: readonly [what: string, node: PathLiteral, result: Result][] = [
  ['is as it must be', { file: 's', mode: 0o600 }, []],
  ['is open to a group', { file: 's', mode: 0o640 }, { blocked: 'config-invalid' }],
  ['is a link', { link: '/srv/secret' }, { blocked: 'config-invalid' }],
  ['is empty', { file: '', mode: 0o600 }, { blocked: 'config-invalid' }],
  ['is not there', 'absent', { blocked: 'config-invalid' }],
]
test.each(there)('a secret file that drover is not given is refused unless it is right: it %s', (_, node, expected) => {
  const literal = {
    paths: { ...directories, [file]: { file: JSON.stringify(principal), mode: 0o600 }, [secretPath]: node },
  }
  expect(result(agentConfigPresent, { config: principal }, literal)).toEqual(expected)
})

const answered: readonly [what: string, probe: string, result: Result][] = [
  ['is as it must be', 'type=regular file\nmode=600\nsize=7\n', []],
  ['is open to a group', 'type=regular file\nmode=640\nsize=7\n', { blocked: 'config-invalid' }],
  ['is a link', 'type=symbolic link\nmode=777\nsize=7\n', { blocked: 'config-invalid' }],
  ['is a directory', 'type=directory\nmode=700\nsize=7\n', { blocked: 'config-invalid' }],
  ['is empty', 'type=regular empty file\nmode=600\nsize=0\n', { blocked: 'config-invalid' }],
  ['is not there', 'type=absent\n', { blocked: 'config-invalid' }],
]
test.each(answered)('so is one that the kept configuration names: it %s', (_, answer, expected) => {
  const literal = {
    ...has(JSON.stringify(principal)),
    probes: { 'config-secret': `path=${secretPath}\n${answer}` },
  }
  expect(result(agentConfigPresent, {}, literal)).toEqual(expected)
})

test.each([
  ['another', 'path=/srv/other\ntype=regular file\nmode=600\nsize=7\n'],
  ['none', ''],
  ['nothing of it', `path=${secretPath}\n`],
])('where the host saw %s, that is said and nothing is refused', (_, answer) => {
  const params = paramsOf(agentConfigPresent, {})
  const literal = { ...has(JSON.stringify(principal)), probes: { 'config-secret': answer } }
  expect(planOn(agentConfigPresent, params, stateFor(agentConfigPresent, params, literal))).toMatchObject({
    status: 'planned',
    changes: [],
    findings: [{ check: 'secret-file-not-seen', target: secretPath, severity: 'warning' }],
  })
})

test('a secret that drover is given needs not be there for a kept configuration', () => {
  const input = { secret_files: [{ path: secretPath, content: new Secret('s3cret') }] } as never
  const literal = {
    ...has(JSON.stringify(principal)),
    probes: { 'config-secret': `path=${secretPath}\ntype=absent\n` },
  }
  expect(result(agentConfigPresent, input, literal)).toEqual([
    'create directory /etc/aks-flex-node/credentials (0700 root:root)',
    `write ${secretPath} (0600 root:root, 6 bytes)`,
  ])
})

test('a link in the place of a secret that drover is given is never written through', () => {
  const literal = { paths: { ...directories, [secretPath]: { link: '/etc/shadow' } } }
  expect(
    result(
      agentConfigPresent,
      { config: principal, secret_files: [{ path: secretPath, content: new Secret('s') }] } as never,
      literal,
    ),
  ).toEqual({
    blocked: 'path-in-the-way',
  })
})

test.each([
  ['a configuration that is not valid', { config: { azure: {} } }, /azure\.targetCluster\.resourceId is missing/],
  ['a content that is no JSON', { content: '{' }, /content: The content is no JSON object/],
  ['a content that is a list', { content: '[]' }, /content: The content is no JSON object/],
  ['a configuration that is a list', { config: [] }, /config: A mapping belongs here/],
  [
    'a secret without a place',
    { config: withToken, secret_files: [{ path: '/etc/shadow', content: new Secret('s') }] },
    /This is no place for a credential/,
  ],
  [
    'a secret that is a plain text',
    { config: withToken, secret_files: [{ path: secretPath, content: 's' }] },
    /must be a secret/,
  ],
])('%s is told before any host is touched', (_, input, message) => {
  expect(faultsOf(agentConfigPresent as never, input as never).join('\n')).toMatch(message)
})

test('the content is laid under the rest, and both may hold secrets', () => {
  const content = new Secret(JSON.stringify({ ...withToken, npd: { version: 'v1' }, agent: { logLevel: 'info' } }))
  const params = paramsOf(agentConfigPresent, { content, config: { agent: { logLevel: 'debug' } } } as never)
  const plan = planOn(agentConfigPresent, params, stateFor(agentConfigPresent, params, {}))
  const change =
    'changes' in plan ? plan.changes.find((each) => each.kind === 'write' && each.path === file) : undefined
  if (change?.kind !== 'write' || !(change.content instanceof Secret)) throw new Error('no secret is written')
  expect(JSON.parse(change.content.reveal())).toEqual({
    ...withToken,
    npd: { version: 'v1' },
    agent: { logLevel: 'debug' },
  })
})

test('a key that drover does not know is a warning', () => {
  const params = paramsOf(agentConfigPresent, { config: { ...withToken, telemetry: {} } } as never)
  const plan = planOn(agentConfigPresent, params, stateFor(agentConfigPresent, params, {}))
  expect(plan).toMatchObject({ status: 'planned', findings: [{ check: 'config-key-unknown', severity: 'warning' }] })
})

test('no secret, wherever it stands, is in anything that is shown: faults, findings, summaries, diffs, errors', () => {
  fc.assert(
    fc.property(secretText, fc.constantFrom('token', 'label', 'client'), (secret, where) => {
      const hidden = new Secret(secret)
      const input = {
        token: { config: { ...withToken, azure: { ...withToken.azure, bootstrapToken: { token: hidden } } } },
        label: { config: { ...withToken, node: { ...withToken.node, labels: { a: hidden } } } },
        client: { config: principal, secret_files: [{ path: secretPath, content: hidden }] },
      }[where]
      const faults = faultsOf(agentConfigPresent as never, input as never)
      expect(faults.join('\n')).not.toContain(secret)
      if (faults.length > 0) return
      const params = paramsOf(agentConfigPresent, input as never)
      const state = stateFor(agentConfigPresent, params, has('{"old":"config"}'))
      const plan = planOn(agentConfigPresent, params, state)
      const changes = 'changes' in plan ? plan.changes : []
      const shown = [
        JSON.stringify(plan),
        ...changes.map(summaryOf),
        ...changes.map((change) => diffOf(state, change) ?? ''),
      ]
      expect(changes.length).toBeGreaterThan(0)
      expect(shown.join('\n')).not.toContain(secret)
      expect(shown.join('\n')).not.toContain('"config"')
      expect(planOn(agentConfigPresent, params, predicted(state, plan))).toMatchObject({ changes: [] })
    }),
  )
})
