import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { examples } from '../../src/cli/examples.ts'
import { createProgram } from '../../src/cli/program.ts'
import { listPlaybooks } from '../../src/playbook/find.ts'
import { tasks } from '../../src/tasks/registry.ts'
import { drover, playbooksDir } from './harness.ts'

const files = {
  'hosts.yaml':
    'hosts:\n  a: {port: 2222, user: core, become: true}\n  b: {jump: [a]}\ngroups:\n  web: {hosts: [a]}\n  empty: {}\n',
}

test('inventory list shows how each host is reached', async () => {
  const ran = await drover(['inventory', 'list', '-i', 'hosts.yaml'], { files })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toBe(
    [
      'HOST  ADDRESS  PORT  USER   ROOT  JUMP  GROUPS',
      'a     a        2222  core   sudo  -     web',
      'b     b        22    alice  no    a     ungrouped',
      '',
    ].join('\n'),
  )
})

test('inventory list --output json shows no signature of an URL', async () => {
  const given = 'vars:\n  agent: {url: "https://x/a.tar.gz?sv=1&sig=hush"}\nhosts:\n  a: {}\n'
  const ran = await drover(['inventory', 'list', '-i', 'hosts.yaml', '-o', 'json'], { files: { 'hosts.yaml': given } })
  expect(JSON.parse(ran.stdout)).toMatchObject({
    hosts: [{ vars: { agent: { url: 'https://x/a.tar.gz?[left out]' } } }],
  })
  expect(ran.stdout).not.toContain('hush')
})

test('inventory list --resolved shows what ssh_config makes of them', async () => {
  const config = 'Host b\n  HostName b.example\n  User bob\n'
  const ran = await drover(['inventory', 'list', '-i', 'hosts.yaml', '--resolved', '-F', 'config'], {
    files: { ...files, config },
  })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toMatch(/^b +b\.example +22 +bob +no +a /m)
})

test('inventory graph draws what the limit leaves', async () => {
  const ran = await drover(['inventory', 'graph', '-i', 'hosts.yaml', '-l', 'web'], { files })
  expect(ran.stdout).toContain('@web:\n  |  |--a\n')
  expect(ran.stdout).not.toContain('--b')
})

test('inventory check says what it has read, and nothing on standard output when it is wrong', async () => {
  expect(await drover(['inventory', 'check', '-i', 'hosts.yaml'], { files })).toMatchObject({
    code: 0,
    stdout: 'ok: 2 hosts in 4 groups, from hosts.yaml\n',
  })
  const json = await drover(['inventory', 'check', '-i', 'hosts.yaml', '-o', 'json'], { files })
  expect(JSON.parse(json.stdout)).toEqual({ ok: true, sources: ['hosts.yaml'], hosts: 2, groups: 4 })
  expect(
    await drover(['inventory', 'check', '-i', 'hosts.yaml'], { files: { 'hosts.yaml': 'hsots: {}\n' } }),
  ).toMatchObject({ code: 5, stdout: '' })
})

test('tasks lists every task, and shows one with its parameters and example', async () => {
  const all = await drover(['tasks'])
  for (const name of tasks.keys()) expect(all.stdout).toMatch(new RegExp(`^${name} `, 'm'))
  const one = await drover(['tasks', 'worker-running'])
  expect(one).toMatchObject({ code: 0, stderr: '' })
  expect(one.stdout).toMatch(/^stable_s +number 0 to 3600 +15 +Seconds /m)
  expect(one.stdout).toContain('\n    - task: worker-running\n')
})

test('playbooks lists those that come with drover', async () => {
  const ran = await drover(['playbooks'])
  expect(ran.code).toBe(0)
  for (const name of listPlaybooks(playbooksDir))
    expect(ran.stdout).toMatch(new RegExp(`^${name} .*/playbooks/${name}\\.yaml$`, 'm'))
  expect(ran.stdout).not.toContain('cannot be used')
})

test('--version and --help are answers, no verb is none', async () => {
  expect(await drover(['--version'])).toMatchObject({ code: 0, stdout: '1.2.3\n', stderr: '' })
  for (const argv of [['--help'], ['run', '--help'], ['status', '-h'], ['inventory', 'list', '--help']]) {
    const ran = await drover(argv)
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toContain('Usage: drover')
  }
  const none = await drover([])
  expect(none).toMatchObject({ code: 5, stdout: '' })
  expect(none.stderr).toContain('Usage: drover')
  expect(await drover(['inventory'])).toMatchObject({ code: 5, stdout: '' })
})

test('the help names every variable of the environment that is read', async () => {
  const { stdout } = await drover(['--help'])
  for (const name of ['DROVER_INVENTORY', 'DROVER_KEY_PASSPHRASE', 'DROVER_OPERATOR', 'NO_COLOR', 'FORCE_COLOR'])
    expect(stdout).toContain(name)
})

const lines = Object.values(examples).flatMap((text) =>
  [...text.matchAll(/^ {2}(drover .*)$/gm)].map(([, line = '']) => line),
)

test.each(lines)('the example %s is a command line that there is', async (line) => {
  const [command = ''] = line.split(' > ')
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )
  const write = (): void => {}
  const output = { write, isTTY: false, columns: undefined }
  const program = createProgram({ stdout: output, stderr: output, version: '' } as never, () => {})
  let parsed: unknown
  const stub = (of: Command): void => {
    for (const each of of.commands) stub(each)
    if (of.commands.length > 0) return
    of.action((...args: unknown[]) => {
      parsed = args
    })
  }
  stub(program)
  await program.parseAsync(words.slice(1), { from: 'user' })
  expect(parsed).toBeDefined()
})

test.each([
  [{}, false, false],
  [{}, true, true],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ TERM: 'dumb' }, true, false],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
])('with %j and a terminal: %s there is colour: %s', async (env, isTTY, colour) => {
  const ran = await drover(['rnu'], { env, isTTY })
  expect(ran.stderr.includes('\u001b[31m')).toBe(colour)
})
