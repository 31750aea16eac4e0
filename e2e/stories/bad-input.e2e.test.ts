import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lab } from '../lab/lab.ts'
import { drover } from '../support/drover.ts'

/** Story: whatever is wrong with a request is said at once, with its place and what to do, and no host is as much as asked. */

// Every host of every inventory here is this listener, which counts who comes.
let port = 0
let visits = 0
const listener = createServer((socket) => {
  visits += 1
  socket.on('error', () => undefined).destroy()
})
let home: string

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'drover-bad-input-'))
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  ;({ port } = listener.address() as AddressInfo)
})

afterAll(() => {
  listener.close()
  rmSync(home, { recursive: true, force: true })
})

const hosts = () => `host_key_policy: off
hosts:
  a: {address: 127.0.0.1, port: ${port}, identity_file: ./key}
  b: {address: 127.0.0.2, port: ${port}, identity_file: ./key}
groups:
  web: {hosts: [a]}
`
/** The inventory, with a line of the host `a` of its own. */
const withHost = (line: string) => (): string => hosts().replace('\ngroups:', `\n  ${line}\ngroups:`)
const playbook = (...steps: readonly string[]) =>
  `name: test\ndescription: A test\nsteps:\n${steps.map((step) => `  - ${step}\n`).join('')}`
const motd = '{task: file-present, with: {path: /etc/motd, content: hello}}'

const pair = (options: { cipher?: string; passphrase?: string } = {}): string =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem', ...options } as { type: 'pkcs1'; format: 'pem' },
  }).privateKey
const key = pair()
const encrypted = pair({ cipher: 'aes-128-cbc', passphrase: 'open sesame' })

interface Bad {
  /** What follows `drover`; `run` and `status` get `-i hosts.yaml` besides. */
  readonly args?: readonly string[]
  readonly files?: Readonly<Record<string, string | (() => string)>>
  readonly env?: Readonly<Record<string, string>>
  /** Each must be one line on standard error, and there is no other fault. */
  readonly says: readonly RegExp[]
  /** Somewhere in the remedies. */
  readonly fix: RegExp
}

const run = (...more: readonly string[]): readonly string[] => ['run', './p.yaml', ...more]
const steps = (...lines: readonly string[]) => ({ 'p.yaml': playbook(...lines) })
const inventory = (text: string | (() => string)) => ({ 'hosts.yaml': text })

const cases: Readonly<Record<string, Bad>> = {
  'an unknown task': {
    files: steps(motd, '{task: file-presnt, with: {path: /etc/motd}}'),
    says: [/^drover: \.\/p\.yaml:5:12 No task is called "file-presnt"\. \[playbook-invalid\]$/],
    fix: /Did you mean file-present\?/,
  },
  'an unknown parameter': {
    files: steps('{task: file-present, with: {path: /x, contents: y}}'),
    says: [
      /^drover: \.\/p\.yaml:4:\d+ "contents" is not a key .* \[playbook-invalid\]$/,
      /^drover: \.\/p\.yaml:4:\d+ content: A value is missing: a text\. /,
    ],
    fix: /Did you mean content\?/,
  },
  'a parameter of another type': {
    files: steps('{task: file-present, with: {path: /x, content: y, mode: 420}}'),
    says: [/^drover: \.\/p\.yaml:4:61 mode: A mode without quotes .*\[playbook-invalid\]$/],
    fix: /"0644"/,
  },
  'an unknown key of a playbook': {
    files: { 'p.yaml': `host: all\n${playbook(motd)}` },
    says: [/^drover: \.\/p\.yaml:1:1 "host" is not a key .* \[playbook-invalid\]$/],
    fix: /Did you mean hosts\?/,
  },
  'an unknown key of a step': {
    files: steps('{task: link-present, whit: {}, with: {path: /x, target: y}}'),
    says: [/^drover: \.\/p\.yaml:4:\d+ "whit" is not a key .* \[playbook-invalid\]$/],
    fix: /Did you mean with\?/,
  },
  'an unknown key of the inventory': {
    files: inventory(withHost('c: {adress: 127.0.0.3}')),
    says: [/^drover: hosts\.yaml:5:7 "adress" is not a key .* \[inventory-invalid\]$/],
    fix: /Did you mean address\?/,
  },
  "a key of Ansible's in the inventory": {
    files: inventory(withHost('c: {ansible_host: 127.0.0.3}')),
    says: [/^drover: hosts\.yaml:5:7 "ansible_host" is not a key .* \[inventory-invalid\]$/],
    fix: /address/,
  },
  'an unknown variable': {
    args: run('-e', 'paht=/etc/motd'),
    files: steps('{task: file-present, with: {path: "${path}", content: x}}'),
    says: [
      /^drover: Nothing in test uses -e paht\. \[usage\]$/,
      /^drover: \.\/p\.yaml:4:\d+ The variable \$\{path\} is not defined\. \(a, b\) \[variable-undefined\]$/,
    ],
    fix: /Did you mean paht\?/,
  },
  'a variable that leads back to itself': {
    args: run('-e', 'x=${y}', '-e', 'y=${x}'),
    files: steps('{task: file-present, with: {path: /x, content: "${x}"}}'),
    says: [
      /^drover: \.\/p\.yaml:4:\d+ In the value of \$\{y\}: A variable refers to itself: x → y → x\. \(a, b\) \[playbook-invalid\]$/,
    ],
    fix: /value of its own/,
  },
  'a secret that is not there': {
    files: {
      'p.yaml': `vars: {token: {secret: {env: NO_SUCH_TOKEN}}}\n${playbook('{task: file-present, with: {path: /x, content: "${token}"}}')}`,
    },
    says: [/^drover: \.\/p\.yaml:5:\d+ .*NO_SUCH_TOKEN.*\[variable-undefined\]$/],
    fix: /NO_SUCH_TOKEN/,
  },
  'an unknown group in a playbook': {
    files: { 'p.yaml': `hosts: wbe\n${playbook(motd)}` },
    says: [/^drover: \.\/p\.yaml:1:8 .*"wbe".* \[pattern-no-match\]$/],
    fix: /Did you mean web\?/,
  },
  'an unknown group in a condition': {
    files: steps('{task: file-present, with: {path: /x, content: y}, when: {group: wbe}}'),
    says: [/^drover: \.\/p\.yaml:4:\d+ .*"wbe".* \[pattern-no-match\]$/],
    fix: /Did you mean web\?/,
  },
  'an unknown group in --limit': {
    args: run('-l', 'wbe'),
    says: [/^drover: .*"wbe".* \[pattern-no-match\]$/],
    fix: /Did you mean web\?/,
  },
  'a --limit that leaves nothing': {
    args: run('-l', 'web:!a'),
    says: [/^drover: .*leaves no host.* \[pattern-no-match\]$/],
    fix: /exclusions/,
  },
  'a member of a group that nobody declares': {
    files: inventory(() => hosts().replace('[a]', '[a, c]')),
    says: [/^drover: hosts\.yaml:6:20 .*\bc\b.*\[inventory-invalid\]$/],
    fix: /./,
  },
  'an inventory that is not there': {
    args: run('-i', 'none.yaml'),
    says: [/^drover: none\.yaml:1:1 There is no such file\. \[inventory-not-found\]$/],
    fix: /Correct the path/,
  },
  'an inventory that is a directory': {
    args: run('-i', 'folder'),
    files: { 'folder/x': '' },
    says: [/^drover: folder:1:1 This is a directory\. \[inventory-not-found\]$/],
    fix: /Name a file/,
  },
  'a playbook that is not there': {
    args: ['run', './q.yaml'],
    says: [/^drover: \.\/q\.yaml: There is no such file\. \[playbook-not-found\]$/],
    fix: /Correct the path/,
  },
  'a playbook that drover does not have': {
    args: ['run', 'prefligth'],
    says: [/^drover: No playbook is called "prefligth"\. \[playbook-not-found\]$/],
    fix: /Did you mean preflight\?/,
  },
  'a file of variables and one of hosts that are not there': {
    args: run('-e', '@none.yaml', '-l', '@none.txt'),
    says: [
      /^drover: -e @none\.yaml There is no such file\. \[usage\]$/,
      /^drover: none\.txt There is no such file\. \[usage\]$/,
    ],
    fix: /path/,
  },
  'an anchor used as a merge key in the inventory': {
    files: inventory(() =>
      hosts().replace('a: {', 'a: &a {').replace('\ngroups:', '\n  c: {<<: *a, address: 127.0.0.3}\ngroups:'),
    ),
    says: [/^drover: hosts\.yaml:5:7 .*\[inventory-invalid\]$/],
    fix: /./,
  },
  'an anchor used as a merge key in a playbook': {
    files: steps(
      '{task: file-present, with: &w {path: /x, content: y}}',
      '{task: file-present, name: two, with: {<<: *w, path: /z, content: y}}',
    ),
    says: [/^drover: \.\/p\.yaml:5:\d+ .*<<.*\[playbook-invalid\]$/],
    fix: /./,
  },
  'a key that is given twice': {
    files: inventory(withHost('c: {address: 127.0.0.3, user: x, user: y}')),
    says: [/^drover: hosts\.yaml:5:36 .*user.* \[inventory-invalid\]$/],
    fix: /./,
  },
  'a key of a playbook that is given twice': {
    files: { 'p.yaml': `${playbook(motd)}name: again\n` },
    says: [/^drover: \.\/p\.yaml:5:1 .*name.* \[playbook-invalid\]$/],
    fix: /./,
  },
  'a host that is there twice': {
    files: inventory(withHost('a: {address: 127.0.0.3}')),
    says: [/^drover: hosts\.yaml:5:3 .*a.* \[inventory-invalid\]$/],
    fix: /./,
  },
  'a host in two sources with two addresses': {
    args: run('-i', 'more.yaml'),
    files: { 'more.yaml': 'hosts:\n  a: {address: 127.0.0.9}\n' },
    says: [
      /^drover: hosts\.yaml:3:7 Host a address: "127\.0\.0\.1" here, but "127\.0\.0\.9" at more\.yaml:2:7\. \[inventory-invalid\]$/,
    ],
    fix: /./,
  },
  'one machine with two names': {
    files: inventory(() => hosts().replace('127.0.0.2', '127.0.0.1')),
    says: [/^drover: hosts\.yaml:4:\d+ b is the same machine as a .*\[inventory-invalid\]$/],
    fix: /Keep one name/,
  },
  'a reset that nobody confirms (E4)': {
    args: ['run', 'reset'],
    says: [/^drover: Nobody has confirmed it for 2 hosts \(a, b\)\. .* \[confirmation-missing\]$/],
    fix: /--confirm 2\./,
  },
  'an uninstall without the flag that it wants besides': {
    args: ['run', 'uninstall', '--confirm', '2'],
    says: [/^drover: Nobody has confirmed it for 2 hosts \(a, b\)\. .* \[confirmation-missing\]$/],
    fix: /--yes-remove-everything\./,
  },
  'a confirmation for another number of hosts': {
    args: run('-l', 'web', '-y', '--confirm', '2'),
    files: { 'p.yaml': `confirm: {says: All of it is removed.}\n${playbook(motd)}` },
    says: [/^drover: --confirm is for 2 hosts, but the run is for 1: a\. \[confirmation-missing\]$/],
    fix: /--confirm 1\./,
  },
  'a port that cannot be': {
    files: inventory(withHost('c: {address: 127.0.0.3, port: 70000}')),
    says: [/^drover: hosts\.yaml:5:33 70000 .* \[inventory-invalid\]$/],
    fix: /65535/,
  },
  'a number that YAML would change': {
    files: { 'p.yaml': `vars: {release: 1.10}\n${playbook(motd)}` },
    says: [/^drover: \.\/p\.yaml:1:17 .*1\.10.*\[playbook-invalid\]$/],
    fix: /Write "1\.10" if it is a text/,
  },
  'YAML that is none': {
    files: steps('{task: file-present, with: {path: /x'),
    says: [/^drover: \.\/p\.yaml:4:41 Flow map .* end with a \}\. \[playbook-invalid\]$/],
    fix: /close every \{ and \[/,
  },
  'an inventory that holds a control character': {
    args: run('-i', 'more.yaml'),
    files: { 'more.yaml': 'hosts:\n  c: {user: "\u0007"}\n' },
    says: [/^drover: more\.yaml:2:14 The file holds the control character U\+0007\. \[inventory-invalid\]$/],
    fix: /Remove it/,
  },
  'an encrypted key without its passphrase': {
    files: { key: encrypted },
    says: [/^drover: \/.*\/key the private key is encrypted \[key-unusable\]$/],
    fix: /ssh-add .*DROVER_KEY_PASSPHRASE/,
  },
  'an encrypted key with another passphrase': {
    files: { key: encrypted },
    env: { DROVER_KEY_PASSPHRASE: 'open barley' },
    says: [/^drover: \/.*\/key the private key does not open .* \[key-unusable\]$/],
    fix: /DROVER_KEY_PASSPHRASE/,
  },
  'a key that is none': {
    files: { key: 'ssh-ed25519 AAAA this is the public one\n' },
    says: [/^drover: \/.*\/key this is no private key .* \[key-unusable\]$/],
    fix: /ssh-keygen/,
  },
  'a known_hosts that is a directory': {
    args: run('--known-hosts', 'folder', '--host-key-policy', 'strict'),
    files: { 'folder/x': '' },
    says: [/^drover: \/.*\/folder cannot be read as known_hosts: EISDIR \[known-hosts-unreadable\]$/],
    fix: /path/,
  },
  'a known_hosts that is not there': {
    args: run('--known-hosts', 'none', '--host-key-policy', 'strict'),
    says: [/^drover: \/.*\/none cannot be read as known_hosts: ENOENT \[known-hosts-unreadable\]$/],
    fix: /path/,
  },
  'a playbook without steps': {
    files: { 'p.yaml': 'name: test\n' },
    says: [/^drover: \.\/p\.yaml:1:1 The playbook has no steps\. \[playbook-invalid\]$/],
    fix: /steps:/,
  },
  'a playbook with no step in its steps': {
    files: { 'p.yaml': 'name: test\nsteps: []\n' },
    says: [/^drover: \.\/p\.yaml:2:8 .*steps.* \[playbook-invalid\]$/],
    fix: /./,
  },
  'an empty playbook': {
    files: { 'p.yaml': '' },
    says: [/^drover: \.\/p\.yaml:1:1 The file holds nothing\. \[playbook-invalid\]$/],
    fix: /steps:/,
  },
  'an empty inventory': {
    files: inventory(''),
    says: [/^drover: hosts\.yaml:1:1 There is no host here\. \[inventory-empty\]$/],
    fix: /hosts:/,
  },
  'an inventory without hosts': {
    files: inventory('groups: {web: {}}\n'),
    says: [/^drover: hosts\.yaml:1:1 There is no host here\. \[inventory-empty\]$/],
    fix: /hosts:/,
  },
  'an unknown option': {
    args: run('--limt', 'a'),
    says: [/^drover: Unknown option '--limt'\. \[usage\]$/],
    fix: /Did you mean --limit\? drover run --help/,
  },
  'an unknown command': {
    args: ['rnu', './p.yaml', '-i', 'hosts.yaml'],
    says: [/^drover: Unknown command 'rnu'\. \[usage\]$/],
    fix: /Did you mean run\? drover --help/,
  },
  'an option that the playbook would not look at': {
    args: run('--fail-on-warnings'),
    says: [/^drover: The playbook test has no use for --fail-on-warnings\. \[usage\]$/],
    fix: /fail_on_warnings/,
  },
  'a check that preflight does not have': {
    args: run(),
    files: steps('{task: preflight-checked, with: {skip: [swap-activ]}}'),
    says: [/^drover: \.\/p\.yaml:4:\d+ .*\[playbook-invalid\]$/],
    fix: /swap-active/,
  },
  'status with a column that is none, of an inventory with a key that is none': {
    args: ['status', '--where', 'vedrict=stuck'],
    files: inventory(withHost('c: {adress: 127.0.0.3}')),
    says: [/^drover: --where .* no column "vedrict"\. \[usage\]$/, /^drover: hosts\.yaml:5:7 "adress"/],
    fix: /Did you mean verdict\?/,
  },
  'inventory check of a file with two faults': {
    args: ['inventory', 'check', '-i', 'hosts.yaml', '-o', 'json'],
    files: inventory(withHost('c: {adress: 127.0.0.3, port: 0}')),
    says: [/^drover: hosts\.yaml:5:7 "adress"/, /^drover: hosts\.yaml:5:32 0 is too small/],
    fix: /Did you mean address\?/,
  },
  'everything at once: all faults of each file, of all files, of the command line and of the key': {
    args: run('-e', 'novalue', '-l', 'web'),
    files: {
      'hosts.yaml': withHost('c: {adress: 127.0.0.3, port: 70000}'),
      ...steps('{task: file-presnt}', '{task: link-present, with: {paht: /x, target: y}}', '{taks: command}'),
    },
    says: [
      /^drover: hosts\.yaml:5:7 "adress"/,
      /^drover: hosts\.yaml:5:32 70000/,
      /^drover: \.\/p\.yaml:4:12 No task/,
      /^drover: \.\/p\.yaml:5:33 "paht"/,
      /^drover: \.\/p\.yaml:5:32 path: A value is missing/,
      /^drover: \.\/p\.yaml:6:\d+ "taks"/,
      /^drover: \.\/p\.yaml:6:\d+ .*task/,
      /^drover: -e novalue /,
    ],
    fix: /Did you mean link-present\?|Did you mean path\?/,
  },
}

/** A directory with the files of a case, and drover in it. Nothing of the helper but this directory is used of the lab. */
const inFolder = (files: Bad['files'] = {}): Lab => {
  const folder = mkdtempSync(join(home, 'case-'))
  const all = { key, 'hosts.yaml': hosts, 'p.yaml': playbook(motd), ...files }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), typeof text === 'string' ? text : text(), { mode: 0o600 })
  }
  return { folder } as Lab
}

test.each(Object.entries(cases))(
  '%s: exit 5 with its place and a remedy, nothing on standard output, and no connection',
  async (_name, bad) => {
    const { args = run(), files, env, says, fix } = bad
    visits = 0
    const ran = await drover(inFolder(files), args, { inventory: 'hosts.yaml', ...(env && { env }) })
    const lines = ran.stderr.split('\n')
    expect(ran.code, ran.stderr).toBe(5)
    for (const said of says)
      expect(
        lines.filter((line) => said.test(line)),
        `${said} in\n${ran.stderr}`,
      ).toHaveLength(1)
    const faults = lines.filter((line) => line.startsWith('drover: '))
    const remedies = lines.filter((line) => line.startsWith('  fix: '))
    expect(faults, ran.stderr).toHaveLength(says.length)
    expect(remedies, ran.stderr).toHaveLength(faults.length)
    expect(remedies.join('\n')).toMatch(fix)
    expect(ran).toMatchObject({ stdout: '', directory: undefined, events: [] })
    expect(visits).toBe(0)
  },
)

test('the same request without a fault does reach the listener, so that the silence above means something', async () => {
  visits = 0
  const ran = await drover(inFolder(), run('--check'), { inventory: 'hosts.yaml' })
  expect(ran.code, ran.stderr).toBe(4)
  expect(ran.report?.totals).toMatchObject({ unreachable: 2 })
  // 127.0.0.2 is this machine as well, but nobody listens there.
  expect(visits).toBeGreaterThan(0)
})
