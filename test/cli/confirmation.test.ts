import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { satisfied, type Task } from '../../src/tasks/task.ts'
import { drover, type Ran, runsOf, type World } from './harness.ts'
import { askedOnce } from './local-host.ts'
import { testTasks } from './test-tasks.ts'

/** As the tasks of uninstall and reset do, it refuses to be planned with another value than these. */
const task: Task<unknown> = {
  name: 'all-gone',
  summary: 'For tests.',
  example: '',
  params: z.strictObject({ sure: z.literal(true), interfaces: z.array(z.string()), agent_reset: z.boolean() }),
  facts: () => [],
  plan: () => satisfied(),
}

const says = 'All of it is removed.'
const gone = (confirm: string): string => `name: gone
${confirm}
defaults: { yes_remove_everything: false, allow_interface: [], agent_reset: true }
steps:
  - task: all-gone
    with:
      sure: \${yes_remove_everything}
      interfaces: \${allow_interface}
      agent_reset: \${agent_reset}
`
const files = {
  'hosts.yaml': 'hosts:\n  a: {}\n  b: {}\n  c: {}\ngroups:\n  web: {hosts: [a, b]}\n  canary: {hosts: [b, c]}\n',
  'plain.yaml': 'name: plain\nsteps: [{task: as-it-is}]\n',
  'once.yaml': `name: once\nconfirm: {says: ${says}}\nsteps: [{task: as-it-is}]\n`,
  'all.yaml': gone(`confirm: {says: ${says}, also: yes-remove-everything}`),
  'bare.yaml': gone(''),
}

type Playbook = 'plain' | 'once' | 'all' | 'bare'

interface Way {
  /** Absent: there is no terminal. */
  readonly answers?: readonly string[]
  readonly hosts?: World['hosts']
}

/** For the hosts a and b. Without `hosts` none may as much as be connected to. */
const run = (playbook: Playbook, flags: readonly string[], { answers, hosts = {} }: Way = {}): Promise<Ran> =>
  drover(['run', `./${playbook}.yaml`, '-i', 'hosts.yaml', '-l', 'web', ...flags], {
    files,
    tasks: new Map([...testTasks, [task.name, task]]),
    hosts,
    ...(answers && { answers }),
  })

const web = (): World['hosts'] => ({ a: askedOnce(), b: askedOnce() })

const wentAhead = (ran: Ran): void => {
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect([...ran.connects].sort()).toEqual(['a', 'b'])
}

const nothingTouched = (ran: Ran, said: string | RegExp, fix: string | RegExp): void => {
  const [fault = '', remedy = '', ...more] = ran.stderr.trimEnd().split('\n')
  expect(ran.code, ran.stderr).toBe(5)
  expect(fault).toMatch(said)
  expect(remedy).toMatch(fix)
  expect(more).toEqual([])
  expect(ran).toMatchObject({ connects: [], stdout: '' })
  expect(() => runsOf(ran)).toThrow('ENOENT')
}

const everything = '--yes-remove-everything'

describe('goes ahead without a question', () => {
  test.each<[Playbook, string, readonly string[]]>([
    ['once', '-y', ['-y']],
    ['once', 'the number of hosts', ['--confirm', '2']],
    ['once', 'both', ['-y', '--confirm', '2']],
    ['once', 'a dry run', ['--check']],
    ['once', 'a dry run with the number', ['--check', '--confirm', '2']],
    ['all', '-y and the flag besides', ['-y', everything]],
    ['all', 'the number and the flag besides', ['--confirm', '2', everything]],
    ['all', 'a dry run without any flag', ['--check']],
    ['all', 'a dry run with the flag', ['--check', everything]],
    ['plain', '-y, which is allowed everywhere', ['-y']],
    ['plain', 'nothing', []],
    ['bare', 'the flag for its variable', [everything]],
  ])('%s: %s', async (playbook, _, flags) => {
    wentAhead(await run(playbook, flags, { hosts: web() }))
    const asked = await run(playbook, flags, { answers: [], hosts: web() })
    wentAhead(asked)
    expect(asked.questions).toEqual([])
  })
})

describe('E4: without a terminal it is exit 5, before anything starts', () => {
  test.each<[Playbook, string, readonly string[], RegExp, RegExp]>([
    [
      'once',
      'nothing',
      [],
      /Nobody has confirmed it for 2 hosts \(a, b\)\. All of it is removed\. \[conf.*-missing\]$/,
      /: --confirm 2\.$/,
    ],
    [
      'once',
      'another number',
      ['--confirm', '3'],
      /--confirm is for 3 hosts, but the run is for 2: a, b\. \[conf.*-missing\]$/,
      /: --confirm 2\.$/,
    ],
    [
      'once',
      'another number with -y',
      ['-y', '--confirm', '1'],
      /for 1 host, but the run is for 2: a, b\./,
      /: --confirm 2\.$/,
    ],
    [
      'once',
      'another number in a dry run',
      ['-C', '--confirm', '20'],
      /for 20 hosts, but the run is for 2: a, b\./,
      /: --confirm 2\.$/,
    ],
    ['all', 'nothing', [], /Nobody has confirmed it/, /: --confirm 2 --yes-remove-everything\.$/],
    ['all', '-y alone', ['-y'], /Nobody has confirmed it/, /is meant: --yes-remove-everything\.$/],
    ['all', 'the number alone', ['--confirm', '2'], /Nobody has confirmed it/, /is meant: --yes-remove-everything\.$/],
    ['all', 'the flag alone', [everything], /Nobody has confirmed it/, /is meant: --confirm 2\.$/],
    [
      'all',
      'the variable by -e',
      ['-y', '-e', 'yes_remove_everything=true'],
      /Nobody has/,
      /meant: --yes-remove-everything\.$/,
    ],
  ])('%s: %s', async (playbook, _, flags, said, fix) => nothingTouched(await run(playbook, flags), said, fix))

  test.each<[readonly string[], RegExp]>([
    [['reset'], /: --confirm 2\.$/],
    [['uninstall'], /: --confirm 2 --yes-remove-everything\.$/],
    [['uninstall', '-y'], /is meant: --yes-remove-everything\.$/],
  ])("drover's own %j", async (words, fix) => {
    nothingTouched(await drover(['run', ...words, '-i', 'a,b,']), /Nobody has confirmed it for 2 hosts/, fix)
  })

  test('-y is not enough for the flag besides on a terminal either, and nothing is asked', async () => {
    for (const flags of [[], ['-y']]) {
      const ran = await run('all', flags, { answers: [] })
      nothingTouched(ran, /Nobody has confirmed it/, /meant: --yes-remove-everything\.$/)
      expect(ran.questions).toEqual([])
    }
  })
})

describe('on a terminal', () => {
  test.each<[string, string[], boolean]>([
    ['the number', ['2'], true],
    ['the number at the third attempt', ['3', 'yes', ' 2 '], true],
    ['three wrong ones', ['3', 'yes', '02'], false],
    ['an empty one', [''], false],
    ['an empty one after a wrong one', ['y', ' '], false],
  ])('the answer is %s', async (_, answers, isEnough) => {
    const ran = await run('once', [], { answers, ...(isEnough && { hosts: web() }) })
    expect(ran.questions).toHaveLength(answers.length)
    if (isEnough) wentAhead(ran)
    else nothingTouched(ran, /not the number of hosts, 2\. No host was touched\. \[confirmation-missing\]$/, /--check/)
  })

  test('what cannot be undone, how many hosts, their names and their groups stand above the question, once', async () => {
    const hosts = Array.from({ length: 12 }, (_, index) => `h${index + 1}`)
    const ran = await drover(['run', './once.yaml', '-i', `${hosts.join(',')},`], {
      files,
      tasks: testTasks,
      answers: ['1', ''],
    })
    expect(ran.code).toBe(5)
    expect(ran.above).toEqual([
      [`This cannot be undone: ${says}`, '12 hosts: h1, h2, h3, h4, h5, h6, h7, h8, h9, h10 and 2 more'],
      [],
    ])
    const grouped = await run('once', [], { answers: [''] })
    expect(grouped.above).toEqual([[`This cannot be undone: ${says}`, '2 hosts: a, b', 'groups: canary 1, web 2']])
  })

  test('nobody is asked about a request that is wrong otherwise', async () => {
    const ran = await run('once', ['-e', 'nothing=1'], { answers: [] })
    nothingTouched(ran, /Nothing in once uses -e nothing\. \[usage\]$/, /./)
    expect(ran.questions).toEqual([])
  })
})

describe('flags for which the playbook has no use', () => {
  test.each<[readonly string[], RegExp]>([
    [['--confirm', '2'], /The playbook plain asks for no confirmation, so there is no use for --confirm\. \[usage\]$/],
    [['--stop-at', 'link'], /The playbook plain has no use for --stop-at\. \[usage\]$/],
    [['--allow-interface', 'wg0'], /The playbook plain has no use for --allow-interface\. \[usage\]$/],
    [[everything], /The playbook plain has no use for --yes-remove-everything\. \[usage\]$/],
    [['--without-agent-reset'], /The playbook plain has no use for --without-agent-reset\. \[usage\]$/],
  ])('%j', async (flags, said) => nothingTouched(await run('plain', flags), said, /Leave it out/))
})

test.each([
  ['--confirm', '0'],
  ['--confirm', 'all'],
  ['--stop-at', 'staging'],
])('%s %s is no such value', async (...flags) => {
  nothingTouched(await run('once', flags), /is invalid\..*\[usage\]$/, /--help/)
})
