import { afterAll, beforeAll, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { startLimit, traces, untilSettled } from '../support/agent-layout.ts'
import { drover, execsOf, startDrover } from '../support/drover.ts'
import { formsOf, plant, type Search, searchFiles, searchHost } from '../support/planted.ts'
import { writePlaybook } from '../support/playbook.ts'
import { mainPid } from '../support/units.ts'
import { age, expectCode, expectRuns } from '../support/upgrade.ts'

/** Story: config.json and a service principal's secret are changed under a running agent, or stay as they were (O-9; E2). */

const config = '/etc/aks-flex-node/config.json'
const secretFile = '/etc/aks-flex-node/credentials/sp-client-secret'
const short = { stable_s: 2, within_s: 10, confirm_within_s: 25, health_within_s: 2 }

let lab: Lab
let rhel: LabHost
/** User core, sudo. */
let acl: LabHost
const secrets = { first: plant('first'), second: plant('second'), third: plant('third') }

beforeAll(async () => {
  lab = await openLab('configure', { yes: true })
  ;[rhel, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'new', worker: 'sleep' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', worker: 'sleep' }),
  ])
  // Nothing can clear the counter of starts there, and the real window is waited for.
  await startLimit(acl, 12)
})

afterAll(() => lab?.close())

const each = async (check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all([rhel, acl].map((host) => check(host)))
}

/** The agent is to log in with this secret, at this log level. */
const rotate = (logLevel: string, more: object = {}): string => {
  const ids = { tenantId: '00000000-0000-0000-0000-000000000001', clientId: '00000000-0000-0000-0000-000000000002' }
  return writePlaybook(
    lab,
    'rotate',
    [
      {
        task: 'agent-configured',
        with: {
          config: {
            azure: { servicePrincipal: { ...ids, clientSecretFile: secretFile } },
            agent: { logLevel },
          },
          secret_files: [{ path: secretFile, content: '${sp_secret}' }],
          ...short,
          ...more,
        },
      },
      { task: 'agent-healthy' },
    ],
    { vars: { sp_secret: { secret: { env: 'STORY_SP' } } } },
  )
}

/** All that is configured, by content, mode and owner. */
const configured = (host: LabHost): Promise<string> =>
  host.must(
    'cd /etc/aks-flex-node && find . -type f ! -name host-root-agents ! -name "*.drover-*" | sort | xargs stat -c "%n %a %U:%G" && cat config.json; cat credentials/* 2>/dev/null || :',
  )

test('both are changed, 0600, and the agent runs with them; again nothing is changed', async () => {
  const before = await Promise.all([rhel, acl].map((host) => mainPid(host, AGENT_UNIT)))
  const env = { STORY_SP: secrets.first }
  const run = await drover(lab, ['run', rotate('debug'), '--diff'], { env })
  expectCode(run, 0)
  await each(async (host) => {
    await expectRuns(host, 'v0.3.0')
    expect(before).not.toContain(await mainPid(host, AGENT_UNIT))
    expect(await host.must('stat -c "%a %U:%G" "$1" "$2"', [config, secretFile])).toBe('600 root:root\n600 root:root')
    expect(JSON.parse(await host.must('cat "$1"', [config]))).toMatchObject({
      agent: { logLevel: 'debug', nodeName: host.name },
      azure: {
        servicePrincipal: { clientSecretFile: secretFile },
        bootstrapToken: { token: 'labfak.thisisnotasecret' },
      },
    })
    expect(await host.must('cat "$1"', [secretFile])).toBe(secrets.first)
  })
  const again = await drover(lab, ['run', rotate('debug')], { env })
  expectCode(again, 0)
  await each(async (host) => expect(execsOf(again, host.name)).toEqual(['inspect']))
})

test('what would not be valid is refused, and nothing is touched', async () => {
  const before = await Promise.all([rhel, acl].map(configured))
  const run = await drover(lab, ['run', 'configure', '-e', '{"config": {"node": {"maxPods": "many"}}}'])
  expectCode(run, 2)
  await each(async (host) => {
    expect(run.host(host.name)).toMatchObject({ outcome: 'blocked', error: { code: 'config-invalid' } })
    expect(run.host(host.name).error?.message).toContain('node.maxPods')
  })
  expect(await Promise.all([rhel, acl].map(configured))).toEqual(before)
})

test('an agent that is not well with it: both files are back, byte for byte', async () => {
  const before = await Promise.all([rhel, acl].map(configured))
  const run = await drover(lab, ['run', rotate('warning', { health_command: ['false'] })], {
    env: { STORY_SP: secrets.second },
  })
  expectCode(run, 7)
  expect(await Promise.all([rhel, acl].map(configured))).toEqual(before)
  await each(async (host) => void (await expectRuns(host, 'v0.3.0')))
})

test('the workstation dies before it is confirmed: both files are back', async () => {
  const before = await Promise.all([rhel, acl].map(configured))
  const run = startDrover(lab, ['run', rotate('error', { stable_s: 8, within_s: 8 })], {
    env: { STORY_SP: secrets.third },
  })
  await each(async (host) => void (await run.until('rollback-armed', (event) => event.host === host.name)))
  run.child.kill('SIGKILL')
  await run.ended
  await each(async (host) => {
    await untilSettled(host, 60_000)
    expect(await traces(host)).toContain('rolled-back')
    await age(host)
  })
  expect(await Promise.all([rhel, acl].map(configured))).toEqual(before)
})

test('no secret is anywhere but in its file: not here, not on the hosts, not in a journal', async () => {
  const search: Search = { places: 0, found: [] }
  const forms = Object.values(secrets).flatMap(formsOf)
  searchFiles(search, `${lab.folder}/runs`, forms)
  for (const host of [rhel, acl]) await searchHost(search, host, forms, [])
  expect([...new Set(search.found)]).toEqual([`rhel9 ${secretFile}`, `acl3 ${secretFile}`])
  expect(search.places).toBeGreaterThan(100)
})
