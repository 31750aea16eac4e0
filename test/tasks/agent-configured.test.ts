import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { diffOf, summaryOf } from '../../src/changes/describe.ts'
import type { Value } from '../../src/playbook/value.ts'
import { Secret } from '../../src/secret.ts'
import { agentConfigured } from '../../src/tasks/agent-configured.ts'
import { laidOut, settledStates } from './deployed.ts'
import { faultsOf, paramsOf, planOn, predicted, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral, PathLiteral } from './host-state.ts'

const agent = 'aks-flex-node-agent.service'
const file = '/etc/aks-flex-node/config.json'
const backup = `${file}.drover-backup`
const directory = '/etc/aks-flex-node/credentials'
const secretFile = `${directory}/sp-client-secret`

type Params = { readonly [key: string]: Value }
const debug: Params = { config: { agent: { logLevel: 'debug' } } }
const rotated: Params = { secret_files: [{ path: secretFile, content: new Secret('s3cret') }] }
const here = (paths: Record<string, PathLiteral> = {}): HostLiteral => laidOut('MOVED', { paths })
const kept = (host: HostLiteral): string => (host.paths as Record<string, { file: string }>)[file]?.file ?? ''

const planOf = (params: Params, host: HostLiteral) => {
  const parsed = paramsOf(agentConfigured, params)
  const state = stateFor(agentConfigured, parsed, host)
  const planned = planOn(agentConfigured, parsed, state)
  return { state, planned, changes: planned.status === 'planned' ? planned.changes : [] }
}

const hold = 'hold the lock /run/aks-flex-node-agent-upgrade.lock'
const arm = 'arm the rollback of the configuration: it fires after 300 s, and at a boot before that'
const proof = [
  `systemctl restart ${agent}`,
  expect.stringMatching(`^wait until ${agent} runs /.* for 45 s$`),
  'wait until systemd-nspawn@kube1.service is seen to be untouched',
]
const backedUp = expect.stringMatching(`^copy ${file} to ${backup} \\(0600 root:root`)
const written = expect.stringMatching(`^write ${file} \\(0600 root:root`)

describe('the configuration of an agent', () => {
  test.each(settledStates)('is kept aside, changed behind a rollback, and proved, on a host that is %s', (state) => {
    expect(result(agentConfigured, debug, laidOut(state))).toEqual([hold, backedUp, arm, written, ...proof])
  })

  test('is laid over what is there', () => {
    const { changes } = planOf(debug, here())
    const write = changes.find((change): change is Extract<Change, { kind: 'write' }> => change.kind === 'write')
    expect(write?.content).toBeInstanceOf(Secret)
    const text = write?.content instanceof Secret ? write.content.reveal() : ''
    expect(JSON.parse(text)).toEqual({ ...JSON.parse(kept(here())), agent: { logLevel: 'debug' } })
  })

  test('is laid over the whole one that is given with it', () => {
    const content = JSON.stringify({ ...JSON.parse(kept(here())), npd: { version: 'v1' } })
    const write = planOf({ ...debug, content }, here()).changes.find(
      (change): change is Extract<Change, { kind: 'write' }> => change.kind === 'write',
    )
    const text = write?.content instanceof Secret ? write.content.reveal() : ''
    expect(JSON.parse(text)).toEqual({ ...JSON.parse(content), agent: { logLevel: 'debug' } })
  })

  test.each<[what: string, params: Params]>([
    ['the same in other words', { config: { agent: { logLevel: 'info' } } }],
    ['the same as a whole', { content: kept(here()) }],
    ['the same with other blanks', { content: new Secret(JSON.stringify(JSON.parse(kept(here())), null, 4)) }],
  ])('is left where it is %s', (_, params) => {
    expect(result(agentConfigured, params, here())).toEqual([])
  })

  test('is closed where others could read it, without a restart', () => {
    const open = { [file]: { file: kept(here()), mode: 0o644 } }
    expect(result(agentConfigured, { config: {} }, here(open))).toEqual([`set ${file} to 0600 root:root`])
  })

  test('is not kept aside a second time where that is done', () => {
    expect(result(agentConfigured, debug, here({ [backup]: { file: kept(here()), mode: 0o600 } }))).toEqual([
      hold,
      arm,
      written,
      ...proof,
    ])
  })

  test('is changed for a stopped agent, which stays stopped (U5)', () => {
    const stopped = { ...laidOut('MOVED').units?.[agent], ActiveState: 'inactive', exe: '' }
    const { planned } = planOf(debug, laidOut('MOVED', { units: { [agent]: stopped } }))
    expect(planned).toMatchObject({ findings: [{ check: 'not-health-checked' }] })
    expect(result(agentConfigured, debug, laidOut('MOVED', { units: { [agent]: stopped } }))).toEqual([
      hold,
      backedUp,
      arm,
      written,
    ])
  })

  test('plans nothing more once it is as wanted', () => {
    const { state, planned } = planOf({ ...debug, ...rotated }, here())
    const params = paramsOf(agentConfigured, { ...debug, ...rotated })
    const changes = planned.status === 'planned' ? planned.changes.filter(({ kind }) => kind !== 'systemctl') : []
    expect(planOn(agentConfigured, params, predicted(state, { status: 'planned', changes }))).toMatchObject({
      changes: [],
    })
  })
})

describe('a credential', () => {
  test('comes into a closed directory, and no other file is touched', () => {
    expect(result(agentConfigured, rotated, here())).toEqual([
      hold,
      `create directory ${directory} (0700 root:root)`,
      arm,
      `write ${secretFile} (0600 root:root, 6 bytes)`,
      ...proof,
    ])
  })

  test('is not written again, but closed where it was open', () => {
    const paths = { [directory]: { dir: true, mode: 0o755 }, [secretFile]: { file: 's3cret', mode: 0o640 } } as const
    expect(result(agentConfigured, rotated, here(paths))).toEqual([
      `set ${directory} to 0700 root:root`,
      `set ${secretFile} to 0600 root:root`,
    ])
  })

  test('is written before the configuration that may name it', () => {
    const kinds = planOf({ ...debug, ...rotated }, here()).changes.flatMap((change) =>
      change.kind === 'write' ? [change.path] : [],
    )
    expect(kinds).toEqual([secretFile, file])
  })
})

describe('refused', () => {
  test.each<[what: string, params: Params, host: HostLiteral, code: string, says: RegExp]>([
    [
      'a value that the agent would not take',
      { config: { agent: { logLevel: 7 } } },
      here(),
      'config-invalid',
      /agent\.logLevel/,
    ],
    ['nothing to lay it over', debug, here({ [file]: { file: 'x' } }), 'config-invalid', /no JSON object/],
    ['a host without a configuration', debug, here({ [file]: 'absent' }), 'path-in-the-way', /not there/],
    [
      'a configuration that is a link',
      debug,
      here({ [file]: { link: '/srv/config' }, '/srv/config': { file: '{}' } }),
      'path-in-the-way',
      /as a regular file/,
    ],
    [
      'a backup that is a link',
      debug,
      here({ [backup]: { link: '/etc/passwd' }, '/etc/passwd': { file: '' } }),
      'path-in-the-way',
      /is a link to/,
    ],
    [
      'a credential that is a link',
      rotated,
      here({ [directory]: { dir: true, mode: 0o700 }, [secretFile]: { link: '/tmp/x' }, '/tmp/x': 'absent' }),
      'path-in-the-way',
      /is a link to/,
    ],
    [
      'a directory of credentials that is a link',
      rotated,
      here({ [directory]: { link: '/tmp' }, '/tmp': { dir: true } }),
      'path-in-the-way',
      /is a link to/,
    ],
    [
      'a lock that is held',
      debug,
      laidOut('MOVED', { probes: { 'activation-lock': 'lock=held\nholder=7 a -\n' } }),
      'activation-locked',
      /7/,
    ],
    [
      'a move that is not finished',
      debug,
      here({ '/opt/unbounded/agent/.moving': { file: '' } }),
      'move-unfinished',
      /moving/,
    ],
    ['no agent', debug, {}, 'agent-missing', /install/],
  ])('%s', (_, params, host, code, says) => {
    expect(result(agentConfigured, params, host)).toEqual({ blocked: code })
    expect(refusal(agentConfigured, params, host)).toMatch(says)
  })
})

describe('no secret is shown', () => {
  const token = 'abcdef.0123456789abcdef'
  const secrets: Params = {
    config: {
      azure: {
        managedIdentity: null,
        servicePrincipal: { tenantId: 't', clientId: 'c', clientSecret: new Secret(token) },
      },
    },
    ...rotated,
  }
  const shown = ({ state, changes, planned }: ReturnType<typeof planOf>): string =>
    [
      ...changes.flatMap((change) => [summaryOf(change), diffOf(state, change) ?? '', JSON.stringify(change)]),
      JSON.stringify(planned),
    ].join('\n')

  test('in a plan, its diff, or what is made of it for the report', () => {
    const text = shown(planOf(secrets, here({ [secretFile]: { file: 'oldsecret' } })))
    for (const secret of [token, 's3cret', 'oldsecret', 'managedClusters']) expect(text).not.toContain(secret)
    expect(text).toContain('content is secret')
  })

  test('nor in what is wrong with it', () => {
    const text = shown(planOf({ config: { azure: { bootstrapToken: { token: new Secret('not-a-token') } } } }, here()))
    expect(text).toContain('config-invalid')
    expect(text).not.toContain('not-a-token')
  })
})

describe('what a dead run armed (U4)', () => {
  const armedWith = (params: Params, isProved = true): HostLiteral['self'] => {
    const arming = planOf(params, here()).changes.find(
      (change): change is Extract<Change, { kind: 'arm' }> => change.kind === 'arm',
    )
    return {
      rollback: {
        phase: 'armed',
        text: `run-1 ann 2026-11-30T10:00:00Z 1190 ${arming?.candidate} configuration`,
        ...(isProved && { isProved }),
      },
    }
  }
  const changed = { [file]: { file: kept(here()).replace('"info"', '"debug"'), mode: 0o600 } } as const

  test.each<[what: string, host: HostLiteral, comes: readonly string[] | { blocked: string }]>([
    [
      'is confirmed where that is wanted, and there, and was proved',
      { ...here(changed), self: armedWith(debug) ?? {} },
      ['disarm the rollback of run run-1'],
    ],
    [
      'is not where it was never proved',
      { ...here(changed), self: armedWith(debug, false) ?? {} },
      { blocked: 'rollback-armed' },
    ],
    ['is not where it is not there', { ...here(), self: armedWith(debug) ?? {} }, { blocked: 'rollback-armed' }],
    ['is not where another was', { ...here(changed), self: armedWith(rotated) ?? {} }, { blocked: 'rollback-armed' }],
  ])('%s', (_, host, comes) => {
    expect(result(agentConfigured, debug, host)).toEqual(comes)
  })
})

test.each<[what: string, params: Params, says: RegExp]>([
  ['nothing', {}, /Nothing is to be configured/],
  ['a blank content', { content: ' ' }, /Nothing is to be configured/],
  ['a content that is no JSON', { content: '{' }, /^content: The content is no JSON object/],
  ['a content that is a list', { content: '[]' }, /^content: The content is no JSON object/],
  ['a secret that is no configuration', { content: new Secret('[]') }, /^content: This secret does not fit here/],
  [
    'a content that the agent would not take',
    { content: JSON.stringify({ ...JSON.parse(kept(here())), agent: { logLevel: 7 } }) },
    /^content: The configuration is not valid: agent\.logLevel/,
  ],
  [
    'a content that is spoilt by what is laid over it',
    { content: kept(here()), config: { agent: { logLevel: 7 } } },
    /^content: The configuration is not valid: agent\.logLevel/,
  ],
  ['a credential elsewhere', { secret_files: [{ path: '/etc/shadow', content: new Secret('x') }] }, /no place/],
  [
    'a credential in a directory of its own',
    { secret_files: [{ path: `${directory}/../x`, content: new Secret('x') }] },
    /no place/,
  ],
  ['a credential that is no secret', { secret_files: [{ path: secretFile, content: 'x' }] }, /must be a secret/],
])('parameters: %s', (_, params, says) => {
  expect(faultsOf(agentConfigured as never, params)).toEqual([expect.stringMatching(says)])
})
