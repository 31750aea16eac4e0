import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Secret } from '../../src/secret.ts'
import { runScript } from '../../src/transport/script/run-script.ts'
import { createSsh2Transport } from '../../src/transport/ssh2/ssh2-transport.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { codeModule } from '../lab/pam/build.ts'
import { until } from '../lab/wait.ts'
import { inventoryHost } from '../support/core.ts'
import { type DroverEnd, drover } from '../support/drover.ts'
import { formsOf, plant, type Search, searchFiles, searchHost, searchText, watchHost } from '../support/planted.ts'
import { file, writePlaybook } from '../support/playbook.ts'
import { addUsers, hostsFile, knowPorts, startSshd, type UserOptions } from '../support/sshd.ts'

/** Story: root is had in every way that a host may want it, and where it is not, the reason is named and nothing is given away. */

const password = plant('right')
const rootPassword = plant('root')
const wrong = plant('wrong')

type Where = 'new' | 'old'

interface Case {
  readonly name: string
  readonly on: Where
  readonly user?: Omit<UserOptions, 'name'>
  readonly method?: 'doas'
  /** Default: the user's own. */
  readonly given?: 'wrong' | 'root' | 'none'
  /** Nothing: root is had. */
  readonly error?: { readonly code?: string; readonly message: RegExp; readonly remedy: RegExp }
}

const asks = ['NAME ALL=(ALL) ALL']
const asksNot = ['NAME ALL=(ALL) NOPASSWD: ALL']
const bash = '/bin/bash'

const both = (make: (on: Where) => Case): Case[] => [make('new'), make('old')]

const cases: readonly Case[] = [
  ...both((on) => ({ name: `asks-not-${on}`, on, user: { sudoers: asksNot } })),
  ...both((on) => ({ name: `asks-${on}`, on, user: { sudoers: asks } })),
  ...both((on) => ({ name: `tty-${on}`, on, user: { sudoers: ['Defaults:NAME requiretty', ...asks] } })),
  ...both((on) => ({ name: `tty-asks-not-${on}`, on, user: { sudoers: ['Defaults:NAME requiretty', ...asksNot] } })),
  { name: 'no-use-pty', on: 'new', user: { sudoers: ['Defaults:NAME !use_pty, requiretty', ...asks] } },
  { name: 'lecture', on: 'new', user: { sudoers: ['Defaults:NAME lecture=always', ...asks] } },
  { name: 'rootpw', on: 'new', given: 'root', user: { sudoers: ['Defaults:NAME rootpw', ...asks] } },
  { name: 'targetpw', on: 'old', given: 'root', user: { sudoers: ['Defaults:NAME targetpw', ...asks] } },
  { name: 'override', on: 'new', user: { sudoers: ['Defaults:NAME passprompt_override', ...asks] } },
  { name: 'feedback', on: 'new', user: { sudoers: ['Defaults:NAME pwfeedback, requiretty', ...asks] } },
  // Not compressed, so that the search reads what sudo has recorded.
  { name: 'logged', on: 'old', user: { sudoers: ['Defaults:NAME log_input, log_output, !compress_io', ...asks] } },
  { name: 'fish', on: 'new', user: { shell: '/usr/bin/fish', sudoers: ['Defaults:NAME requiretty', ...asks] } },
  { name: 'tcsh', on: 'new', user: { shell: '/usr/bin/tcsh', sudoers: ['Defaults:NAME requiretty', ...asks] } },
  {
    name: 'noisy',
    on: 'new',
    user: { shell: bash, sudoers: asks, files: { '.bashrc': 'echo hello\necho Password: >&2\nset -x\n' } },
  },
  { name: 'sudo-rs', on: 'new', user: { shell: bash, sudoers: asks, files: { '.bashrc': 'PATH=/opt/rs:$PATH\n' } } },
  { name: 'doas-not', on: 'new', method: 'doas' },
  {
    name: 'wrong',
    on: 'new',
    given: 'wrong',
    user: { sudoers: asks },
    error: { message: /^sudo on wrong refused the password of wrong\.$/, remedy: /-K/ },
  },
  {
    name: 'wrong-root',
    on: 'old',
    given: 'wrong',
    user: { sudoers: ['Defaults:NAME rootpw, requiretty', ...asks] },
    error: { message: /^sudo on wrong-root refused the password of root\.$/, remedy: /-K/ },
  },
  {
    name: 'wrong-once',
    on: 'new',
    given: 'wrong',
    user: { sudoers: ['Defaults:NAME passwd_tries=1', ...asks] },
    error: { message: /^sudo on wrong-once refused the password of wrong-once\.$/, remedy: /-K/ },
  },
  {
    name: 'wrong-rs',
    on: 'new',
    given: 'wrong',
    user: { shell: bash, sudoers: asks, files: { '.bashrc': 'PATH=/opt/rs:$PATH\n' } },
    error: { message: /^sudo on wrong-rs refused the password of wrong-rs\.$/, remedy: /-K/ },
  },
  {
    name: 'none-given',
    on: 'new',
    given: 'none',
    user: { sudoers: asks },
    error: {
      message: /^sudo on none-given wants a password of none-given, and none was given\.$/,
      remedy: /-K.*NOPASSWD/,
    },
  },
  {
    name: 'no-rule',
    on: 'new',
    error: { message: /^sudo on no-rule has no rule that lets no-rule become root\.$/, remedy: /no-rule ALL=/ },
  },
  {
    name: 'ls-only',
    on: 'old',
    user: { sudoers: ['NAME ALL=(ALL) /bin/ls'] },
    error: { message: /does not allow ls-only to run \/bin\/sh as root\.$/, remedy: /sudo -l/ },
  },
  {
    name: 'no-sudo',
    on: 'new',
    user: { shell: bash, files: { '.bashrc': 'PATH=/opt/none\n' } },
    error: { message: /^There is no sudo on no-sudo, or not in the PATH/, remedy: /become_method: doas/ },
  },
  {
    name: 'expired',
    on: 'new',
    user: { sudoers: asks },
    error: { message: /the account or its password has expired, or is locked/, remedy: /chage -l expired/ },
  },
  {
    name: 'code',
    on: 'new',
    user: { sudoers: asks },
    error: {
      message: /did not ask with drover's own prompt but with: Verification code:$/,
      remedy: /Nothing was typed/,
    },
  },
  {
    name: 'code-override',
    on: 'new',
    user: { sudoers: ['Defaults:NAME passprompt_override', ...asks] },
    error: { message: /asked twice without a word against the password/, remedy: /NOPASSWD/ },
  },
  {
    name: 'code-rs',
    on: 'new',
    user: { shell: bash, sudoers: asks, files: { '.bashrc': 'PATH=/opt/rs:$PATH\n' } },
    error: { message: /but with: Verification code:$/, remedy: /Nothing was typed/ },
  },
  {
    name: 'doas-asks',
    on: 'new',
    method: 'doas',
    error: {
      message: /^doas on doas-asks wants a password of doas-asks, and drover types none/,
      remedy: /permit nopass/,
    },
  },
  {
    name: 'doas-never',
    on: 'new',
    method: 'doas',
    error: { message: /^doas on doas-never has no rule/, remedy: /permit nopass doas-never/ },
  },
  {
    name: 'nologin',
    on: 'old',
    user: { shell: '/usr/sbin/nologin', sudoers: asks },
    error: { code: 'channel-failed', message: /is closed to nologin: the login shell is nologin\.$/, remedy: /chsh/ },
  },
  {
    name: 'rbash',
    on: 'new',
    user: { shell: '/bin/rbash', sudoers: asks },
    error: { code: 'channel-failed', message: /the login shell is a restricted one\.$/, remedy: /chsh/ },
  },
]

const succeed = cases.filter(({ error }) => error === undefined).map(({ name }) => name)

const transports = ['ssh2', 'openssh'] as const

let lab: Lab
/** What a look at every case found. */
const checked = {} as Record<(typeof transports)[number], DroverEnd>
const hosts = {} as Record<Where, LabHost>

/** One sshd of a host listens for each case: two names of one address and port would be one host to drover. */
const portOf = (name: string): number => 2200 + cases.findIndex((each) => each.name === name)

// OpenSSH refuses to listen on more.
const portsOfAnSshd = 16

const casesOn = (on: Where): readonly Case[] => cases.filter((each) => each.on === on)

beforeAll(async () => {
  lab = await openLab('transport-become', { yes: true })
  const [newer, older, module] = await Promise.all([
    lab.boot({ name: 'newer', image: 'ubuntu-like-shells' }),
    lab.boot({ name: 'older', image: 'rhel9-like' }),
    codeModule({ yes: true }),
  ])
  Object.assign(hosts, { new: newer, old: older })
  await Promise.all(
    (['new', 'old'] as const).map(async (on) => {
      const host = hosts[on]
      await addUsers(
        lab,
        host,
        casesOn(on).map(({ name, user }) => ({ name, password, ...user })),
      )
      await host.must('printf "root:%s\\n" "$(cat)" | chpasswd', [], { stdin: rootPassword })
      const ports = casesOn(on).map(({ name }) => portOf(name))
      for (let at = 0; at < ports.length; at += portsOfAnSshd) {
        const [port = 0, ...more] = ports.slice(at, at + portsOfAnSshd)
        const lines = [...more.map((each) => `Port ${each}`), 'AddressFamily inet', 'MaxStartups 100']
        await startSshd(host, { port, lines })
      }
      await knowPorts(lab, host, ports)
    }),
  )
  await newer.put('/usr/lib/x86_64-linux-gnu/security/pam_code.so', readFileSync(module))
  await newer.must(
    `sed -i '1a auth [success=ignore default=1] pam_succeed_if.so quiet user in code:code-override:code-rs\\nauth required pam_code.so 123456' /etc/pam.d/sudo
     mkdir -p /opt/rs && ln -s /usr/bin/sudo-rs /opt/rs/sudo
     printf 'permit nopass doas-not\\npermit doas-asks\\n' >/etc/doas.conf
     chage -E 2001-01-01 expired; sed -i '1a account [success=ignore default=1] pam_succeed_if.so quiet user = expired\\naccount required pam_unix.so' /etc/pam.d/sudo
     sed -i '1i account sufficient pam_succeed_if.so quiet user = expired' /etc/pam.d/sshd
     cat /etc/pam.d/sudo`,
  )
})

beforeAll(async () => {
  const watch = watchHost(hosts.new, { pauseS: 0.1 })
  // Side by side: a question that is not ours takes its twenty seconds to be given up.
  await Promise.all(
    transports.map(async (transport) => {
      const args = ['run', playbook(), '--check', '-vv', '-f', '12']
      checked[transport] = await drover(lab, args, { inventory: inventory(transport), env })
    }),
  )
  searchText(search, 'processes', await watch.stop(), forms)
  for (const transport of transports) searchEnd(checked[transport])
})

afterAll(() => lab?.close())

const env = { STORY_RIGHT: password, STORY_WRONG: wrong, STORY_ROOT: rootPassword }
const variables: Record<string, string> = { wrong: 'STORY_WRONG', root: 'STORY_ROOT', right: 'STORY_RIGHT' }

const inventory = (transport: string): string =>
  hostsFile(
    lab,
    `become-${transport}`,
    Object.fromEntries(
      cases.map(({ name, on, method, given = 'right' }) => [
        name,
        {
          address: hosts[on].address,
          port: portOf(name),
          user: name,
          become: true,
          transport,
          ...(method !== undefined && { become_method: method }),
          ...(given !== 'none' && { become_password: { secret: { env: variables[given] } } }),
        },
      ]),
    ),
  )

const playbook = (): string => writePlaybook(lab, 'root', [file('a file of root', '/etc/story-become', 'by root\n')])

const search: Search = { places: 0, found: [] }
const forms = [password, wrong, rootPassword].flatMap(formsOf)

const searchEnd = (end: DroverEnd): void => {
  searchText(search, 'screen', end.stdout + end.stderr, forms)
  if (end.directory === undefined) throw new Error(`drover made no run directory:\n${end.stdout}${end.stderr}`)
  searchFiles(search, end.directory, forms)
}

describe.each(transports)('over %s', (transport) => {
  test.each(succeed)('root is had: %s', (name) => {
    expect(checked[transport].host(name)).toMatchObject({
      outcome: expect.stringMatching(/^(would-change|unchanged)$/),
    })
  })

  test.each(cases.filter(({ error }) => error !== undefined))('no root, and why: $name', ({ name, error }) => {
    expect(checked[transport].host(name).error).toMatchObject({
      code: error?.code ?? 'become-failed',
      message: expect.stringMatching(error?.message ?? /^$/),
      remedy: expect.stringMatching(error?.remedy ?? /^$/),
    })
  })

  test('nobody is left waiting for an answer', async () => {
    for (const host of [hosts.new, hosts.old]) {
      await until(`the end of every sudo on ${host.name}`, 10_000, async () =>
        (await host.sh('pgrep -x "sudo|doas|script"')).code === 1 ? true : undefined,
      )
    }
  })

  test('status shows what root sees, or why it is not root that looks', async () => {
    const secrets = join(lab.folder, 'become-password')
    writeFileSync(secrets, `${password}\n`, { mode: 0o600 })
    const args = ['status', '-l', 'none-given,tty-old,wrong', '--become-password-file', secrets]
    const end = await drover(lab, args, { inventory: inventory(transport), env })
    searchText(search, 'screen', end.stdout + end.stderr, forms)
    expect(end.stdout).toContain('read without root, so in part: wrong\n')
    expect(end.stdout).toContain('  sudo on wrong refused the password of wrong.\n')
  })

  test('changes are made through it, one user after the other', async () => {
    const names = ['asks-new', 'tty-old', 'fish', 'sudo-rs', 'doas-not']
    await Promise.all([hosts.new, hosts.old].map((host) => host.must('rm -f /etc/story-become')))
    const end = await drover(lab, ['run', playbook(), '-vv', '-f', '1', '-l', names.join(',')], {
      inventory: inventory(transport),
      env,
    })
    searchEnd(end)
    // On one machine the second user finds the work of the first.
    expect(
      names.map((name) => end.host(name).outcome),
      end.stdout,
    ).toEqual([...['changed', 'changed', 'unchanged', 'unchanged', 'unchanged']])
    for (const host of [hosts.new, hosts.old]) {
      expect(await host.must('stat -c %U /etc/story-become; cat /etc/story-become')).toBe('root\nby root')
    }
  })
})

test.each(['tty-new', 'tty-old', 'no-use-pty'])('a megabyte of every byte goes there and back: %s', async (name) => {
  const { on } = cases.find((each) => each.name === name) ?? { on: 'new' }
  const host = { ...inventoryHost(lab, hosts[on]), name, user: name, port: portOf(name) }
  const transport = createSsh2Transport({
    deadlines: { resolveMs: 5000, connectMs: 10_000, handshakeMs: 20_000, authMs: 20_000, channelMs: 10_000 },
    passphrase: () => undefined,
  })
  const bytes = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(1024 * 1024)])
  const connection = await transport.connect(host)
  try {
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await runScript(connection, {
        run: 'story',
        verb: 'echo',
        script: 'main() { id -un >&2; tty <&1 >&2; head -c 512; printf "\\000\\377" >&2; cat; }\nmain "$@"\n',
        args: [],
        payload: bytes,
        become: { method: 'sudo', password: new Secret(password) },
        deadlineMs: 60_000,
        maxBytes: 4_000_000,
      })
      expect(answer.stdout.equals(bytes)).toBe(true)
      expect(answer.stderr.toString('latin1')).toBe('root\nnot a tty\n\x00\xff')
    }
  } finally {
    await connection.close()
    await transport.close()
  }
})

test('the passwords are nowhere on either end', async () => {
  for (const host of [hosts.new, hosts.old]) await searchHost(search, host, forms, [])
  console.log(`passwords of sudo: ${search.places} places searched, ${search.found.length} found`)
  expect(search.found).toEqual([])
  expect(search.places).toBeGreaterThan(500)
})
