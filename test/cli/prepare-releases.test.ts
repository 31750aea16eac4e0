import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createProxiedFetch } from '../../src/cli/proxied-fetch.ts'
import type { Release } from '../../src/release/release.ts'
import { releaseParam } from '../../src/release/schema.ts'
import type { Tasks } from '../../src/runner/plan.ts'
import { satisfied, type Task } from '../../src/tasks/task.ts'
import { agent, archive, directory, program, sha256 } from '../release/made.ts'
import { gives, says, serve } from '../release/server.ts'
import { drover, type Ran, runsOf, type World } from './harness.ts'
import { askedOnce } from './local-host.ts'
import { playbook } from './test-tasks.ts'

const agentParams = z.strictObject({ agent: releaseParam, note: z.string().optional() })

/** A task that wants a release and does nothing with it, and what it was given to plan with. */
const releaseTask = () => {
  const prepared: Release[] = []
  const given: Release[] = []
  const task: Task<z.infer<typeof agentParams>> = {
    name: 'agent-wanted',
    summary: 'For tests.',
    example: '',
    params: agentParams,
    prepare: async (params, releases) => {
      prepared.push(params.agent)
      return { ...params, agent: await releases.fetch(params.agent) }
    },
    facts: () => [],
    plan: (_, { agent }) => {
      given.push(agent)
      return satisfied()
    },
  }
  const tasks: Tasks = new Map([[task.name, task as unknown as Task]])
  return { prepared, given, tasks }
}

const step = '{task: agent-wanted, with: {agent: "${agent}"}}'
const hosts = 'hosts:\n  a: {}\n  b: {}\n'

const world = (agents: string, more: World): World => ({
  ...more,
  files: { 'p.yaml': playbook(step), 'hosts.yaml': `vars:\n${agents}${hosts}`, ...more.files },
})

const packed = await archive({ content: agent })
const url = 'https://releases.test/agent.tar.gz?sig=hush'

describe('a release that a step names', () => {
  test.each([[[]], [['--check']]])('is fetched and checked once for all hosts, with %j', async (flags) => {
    const { prepared, given, tasks } = releaseTask()
    const agents = `  agent: {version: v1.2.3, amd64: {file: agents/agent.tar.gz, sha256: ${sha256(packed)}}}\n`
    const files = { 'agents/agent.tar.gz': packed }
    const ran = await drover(
      ['run', './p.yaml', '-i', 'hosts.yaml', '-v', ...flags],
      world(agents, { tasks, files, hosts: { a: askedOnce(), b: askedOnce() } }),
    )
    expect(ran).toMatchObject({ code: 0 })
    expect(prepared).toHaveLength(1)
    const file = join(ran.cwd, '.cache/drover/releases', sha256(agent))
    expect(new Set(given.map(({ binaries }) => binaries?.amd64?.file))).toEqual(new Set([file]))
    expect(ran.stderr).toContain(
      `drover: info: agent v1.2.3 for amd64: the binary has ${agent.length} bytes, sha256 ${sha256(agent)}\n`,
    )
  })

  test.each([
    ['!secret env:AGENT_URL', '[secret]'],
    [`"${url}"`, 'agent.tar.gz'],
  ])('is downloaded from %s into XDG_CACHE_HOME, and nothing says with which signature', async (from, shown) => {
    const { given, tasks } = releaseTask()
    const server = await serve(gives(packed))
    const caches = directory()
    const ran = await drover(
      ['run', './p.yaml', '-i', 'hosts.yaml', '-l', 'a', '-vv', '--log-file', 'log', '--output', 'json'],
      world(`  agent: {version: v1.2.3, amd64: {url: ${from}, sha256: ${sha256(packed)}}}\n`, {
        tasks,
        fetch: server.fetch,
        env: { AGENT_URL: url, XDG_CACHE_HOME: caches },
        hosts: { a: askedOnce() },
      }),
    )
    expect(ran.code).toBe(0)
    expect(given[0]?.binaries?.amd64?.file).toBe(join(caches, 'drover/releases', sha256(agent)))
    expect(ran.stderr).toContain(`bytes from https://releases.test/${shown}`)
    expect(everythingOf(ran)).not.toContain('hush')
  })

  test('is not downloaded past a proxy that this Node cannot be told to use, which is said once for all', async () => {
    const { tasks } = releaseTask()
    const server = await serve(gives(packed))
    const fetch = createProxiedFetch({ env: { HTTPS_PROXY: 'http://proxy' }, fetch: server.fetch, setProxy: undefined })
    const source = `{url: "${url}", sha256: ${sha256(packed)}}`
    const ran = await drover(
      ['run', './p.yaml', '-i', 'hosts.yaml'],
      world(`  agent: {version: v1.2.3, amd64: ${source}, arm64: ${source}}\n`, { tasks, fetch }),
    )
    expect(ran).toMatchObject({ code: 5, connects: [] })
    expect(ran.stderr.match(/\[release-unavailable\]/g)).toHaveLength(1)
    expect(ran.stderr).toContain('24.14')
  })

  test('is asked for where hosts want different ones, and all that is wrong is told before any host is touched', async () => {
    const { tasks } = releaseTask()
    const server = await serve(says(403))
    const wrong = program({ machine: 183 })
    const ran = await drover(['run', './p.yaml', '-i', 'hosts.yaml', '-vv'], {
      tasks,
      fetch: server.fetch,
      files: {
        'p.yaml': playbook(step, '{task: agent-wanted, name: again, with: {agent: "${agent}", note: again}}'),
        'hosts.yaml': `hosts:
  a: {vars: {agent: {version: v1, amd64: {url: "${url}", sha256: ${sha256(packed)}}}}}
  b: {vars: {agent: {version: v2, amd64: {file: agent, sha256: ${sha256(wrong)}}, arm64: {file: none, sha256: ${sha256(packed)}}}}}
`,
        agent: wrong,
      },
    })
    expect(ran).toMatchObject({ code: 5, connects: [] })
    expect(ran.stderr.match(/^drover: agent .*$/gm)?.sort()).toEqual([
      'drover: agent v1 for amd64 (https://releases.test/agent.tar.gz): the server answered 403. [release-unavailable]',
      'drover: agent v2 for amd64 (agent): it is a program for arm64, not a program for amd64. [release-invalid]',
      'drover: agent v2 for arm64 (none): it cannot be read: no such file or directory (ENOENT). [release-unavailable]',
    ])
    expect(ran.stderr).not.toContain('hush')
    expect(server.requests).toHaveLength(1)
  })

  test('is told beside what else is wrong with the request', async () => {
    const { tasks } = releaseTask()
    const ran = await drover(
      ['run', './p.yaml', '-i', 'hosts.yaml', '--connection-password-file', 'none'],
      world(`  agent: {version: v1, amd64: {file: none, sha256: ${sha256(packed)}}}\n`, { tasks }),
    )
    expect(ran).toMatchObject({ code: 5, connects: [] })
    expect(ran.stderr).toContain('[release-unavailable]')
    expect(ran.stderr).toContain('[usage]')
  })

  test('is not looked at where its parameters are wrong, and they are told without what stands there', async () => {
    const { prepared, tasks } = releaseTask()
    const ran = await drover(
      ['run', './p.yaml', '-i', 'hosts.yaml'],
      world(`  agent: {version: v1, amd64: {url: "${url.replace('https', 'http')}", sha256: ${sha256(packed)}}}\n`, {
        tasks,
      }),
    )
    expect(ran).toMatchObject({ code: 5, connects: [] })
    expect(ran.stderr).toContain(
      'agent.amd64.url: This is no URL that releases can be had from. (a, b) [playbook-invalid]',
    )
    expect(ran.stderr).not.toContain('hush')
    expect(prepared).toEqual([])
    expect(existsSync(join(ran.cwd, '.cache'))).toBe(false)
  })
})

/** All that was shown, logged and recorded. */
function everythingOf(ran: Ran): string {
  const [run = ''] = runsOf(ran)
  const recorded = readdirSync(run, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = [join(ran.cwd, 'log'), ...recorded.map(({ parentPath, name }) => join(parentPath, name))]
  return [ran.stdout, ran.stderr, ...files.map((file) => readFileSync(file, 'utf8'))].join('\n')
}
