import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drover, type World } from './harness.ts'
import { playbook, testTasks } from './test-tasks.ts'

interface Bad {
  readonly argv: readonly string[]
  readonly files?: World['files']
  readonly env?: World['env']
  /** Each must be a line of its own on standard error: place, what is wrong, code. */
  readonly says: readonly RegExp[]
  /** Somewhere in the remedies. */
  readonly fix: RegExp
}

const good = {
  'p.yaml': playbook('{task: as-it-is}'),
  'hosts.yaml': 'hosts:\n  a: {}\n  b: {}\ngroups:\n  web: {hosts: [a]}\n',
}
const run = (...more: readonly string[]): readonly string[] => ['run', './p.yaml', '-i', 'hosts.yaml', ...more]
const steps = (...lines: readonly string[]) => ({ ...good, 'p.yaml': playbook(...lines) })
const inventory = (text: string) => ({ ...good, 'hosts.yaml': text })

const encryptedKey = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'open sesame' },
}).privateKey

const cases: Readonly<Record<string, Bad>> = {
  'an unknown task': {
    argv: run(),
    files: steps('{task: as-it-si}'),
    says: [/^drover: \.\/p\.yaml:3:12 .*"as-it-si".* \[playbook-invalid\]$/],
    fix: /Did you mean as-it-is\?/,
  },
  'an unknown parameter': {
    argv: run(),
    files: steps('{task: file-present, with: {path: /x, contents: y}}'),
    says: [/^drover: \.\/p\.yaml:3:\d+ .*contents.* \[playbook-invalid\]$/],
    fix: /Did you mean content\?/,
  },
  'a missing parameter': {
    argv: run(),
    files: steps('{task: file-present}'),
    says: [/^drover: \.\/p\.yaml:3:\d+ .*path.* \[playbook-invalid\]$/],
    fix: /./,
  },
  'an unknown key of a step': {
    argv: run(),
    files: steps('{task: as-it-is, wiht: {}}'),
    says: [/^drover: \.\/p\.yaml:3:22 .*wiht.* \[playbook-invalid\]$/],
    fix: /Did you mean with\?/,
  },
  'an unknown key of the inventory': {
    argv: run(),
    files: inventory('hosts:\n  a: {prot: 22}\n'),
    says: [/^drover: hosts\.yaml:2:7 .*prot.* \[inventory-invalid\]$/],
    fix: /Did you mean port\?/,
  },
  'an unknown variable': {
    argv: run('-e', 'pathh=/x'),
    files: steps('{task: file-present, with: {path: "${path}"}}'),
    says: [/^drover: \.\/p\.yaml:3:\d+ The variable \$\{path\} is not defined\. \(a, b\) \[variable-undefined\]$/],
    fix: /Did you mean pathh\?/,
  },
  'an unknown group in a playbook': {
    argv: run(),
    files: steps('{task: as-it-is, when: {group: wbe}}'),
    says: [/^drover: \.\/p\.yaml:3:\d+ .*"wbe".* \[pattern-no-match\]$/],
    fix: /Did you mean web\?/,
  },
  'an unknown group in a limit': {
    argv: run('-l', 'wbe'),
    files: good,
    says: [/^drover: .*"wbe".* \[pattern-no-match\]$/],
    fix: /Did you mean web\?/,
  },
  'a limit that leaves nothing': {
    argv: run('-l', 'web,!a'),
    files: good,
    says: [/^drover: .*leaves no host.* \[pattern-no-match\]$/],
    fix: /exclusions/,
  },
  'a limit outside the hosts of the playbook': {
    argv: run('-l', 'b'),
    files: { ...good, 'p.yaml': `hosts: web\n${good['p.yaml']}` },
    says: [/^drover: The playbook test is for web, and --limit b leaves none of these hosts\. \[pattern-no-match\]$/],
    fix: /inventory graph/,
  },
  'no inventory': {
    argv: ['run', './p.yaml'],
    files: good,
    says: [/^drover: No inventory is given\. \[usage\]$/],
    fix: /DROVER_INVENTORY/,
  },
  'an inventory that is not there': {
    argv: ['run', './p.yaml', '-i', 'none.yaml'],
    files: good,
    says: [/^drover: none\.yaml:1:1 There is no such file\. \[inventory-not-found\]$/],
    fix: /Correct the path/,
  },
  'an inventory without hosts': {
    argv: run(),
    files: inventory('hosts: {}\n'),
    says: [/^drover: hosts\.yaml:1:1 There is no host here\. \[inventory-empty\]$/],
    fix: /hosts:/,
  },
  'a playbook that is not there': {
    argv: ['run', './q.yaml', '-i', 'hosts.yaml'],
    files: good,
    says: [/^drover: \.\/q\.yaml: There is no such file\. \[playbook-not-found\]$/],
    fix: /Correct the path/,
  },
  'a playbook that drover does not have': {
    argv: ['run', 'remedate', '-i', 'hosts.yaml'],
    files: good,
    says: [/^drover: No playbook is called "remedate"\. \[playbook-not-found\]$/],
    fix: /Did you mean remediate\?/,
  },
  'a playbook without steps': {
    argv: run(),
    files: { ...good, 'p.yaml': 'name: test\n' },
    says: [/^drover: \.\/p\.yaml:1:1 The playbook has no steps\. \[playbook-invalid\]$/],
    fix: /steps:/,
  },
  'merge keys': {
    argv: run(),
    files: inventory('hosts:\n  a: &a {port: 22}\n  b: {<<: *a}\n'),
    says: [/^drover: hosts\.yaml:3:7 .*\[inventory-invalid\]$/],
    fix: /./,
  },
  'a key that is there twice': {
    argv: run(),
    files: inventory('hosts:\n  a: {port: 22, port: 23}\n'),
    says: [/^drover: hosts\.yaml:2:\d+ .*port.*\[inventory-invalid\]$/],
    fix: /./,
  },
  'a host that is there twice': {
    argv: run(),
    files: inventory('hosts:\n  a: {}\n  b: {}\n  a: {}\n'),
    says: [/^drover: hosts\.yaml:4:3 .*a.*\[inventory-invalid\]$/],
    fix: /./,
  },
  'one machine with two names': {
    argv: run(),
    files: inventory('hosts:\n  a: {address: 192.0.2.1}\n  b: {address: 192.0.2.1}\n'),
    says: [/^drover: hosts\.yaml:3:\d+ b is the same machine as a .*\[inventory-invalid\]$/],
    fix: /Keep one name/,
  },
  'a port that cannot be': {
    argv: run(),
    files: inventory('hosts:\n  a: {port: 70000}\n'),
    says: [/^drover: hosts\.yaml:2:13 70000 .*\[inventory-invalid\]$/],
    fix: /./,
  },
  'an encrypted key without its passphrase': {
    argv: run('--private-key', 'key'),
    files: { ...good, key: encryptedKey },
    says: [/^drover: \/.*\/key the private key is encrypted \[key-unusable\]$/],
    fix: /ssh-add .*DROVER_KEY_PASSPHRASE/,
  },
  'an encrypted key with another passphrase': {
    argv: run('--private-key', 'key'),
    files: { ...good, key: encryptedKey },
    env: { DROVER_KEY_PASSPHRASE: 'open barley' },
    says: [/^drover: \/.*\/key the private key does not open .*\[key-unusable\]$/],
    fix: /ssh-add/,
  },
  'a key that is not there': {
    argv: run('--private-key', 'key'),
    files: good,
    says: [/^drover: \/.*\/key the private key cannot be read: ENOENT \[key-unusable\]$/],
    fix: /path/,
  },
  'a known_hosts that cannot be read': {
    argv: run('--known-hosts', 'dir'),
    files: { ...good, 'dir/file': '' },
    says: [/^drover: \/.*\/dir cannot be read as known_hosts: EISDIR \[known-hosts-unreadable\]$/],
    fix: /path/,
  },
  'extra variables without =': {
    argv: run('-e', 'novalue'),
    files: good,
    says: [/^drover: -e novalue .* \[usage\]$/],
    fix: /name=value/,
  },
  'a file of extra variables that is not there': {
    argv: run('-e', '@none.yaml'),
    files: good,
    says: [/^drover: -e @none\.yaml There is no such file\. \[usage\]$/],
    fix: /path/,
  },
  'a file of hosts that is not there': {
    argv: run('-l', '@none.txt'),
    files: good,
    says: [/^drover: none\.txt There is no such file\. \[usage\]$/],
    fix: /path/,
  },
  'an unknown option': {
    argv: run('--limt', 'a'),
    says: [/^drover: Unknown option '--limt'\. \[usage\]$/],
    fix: /Did you mean --limit\? drover run --help/,
  },
  'an unknown command': {
    argv: ['rnu', './p.yaml'],
    says: [/^drover: Unknown command 'rnu'\. \[usage\]$/],
    fix: /Did you mean run\? drover --help/,
  },
  'too few forks': {
    argv: run('-f', '0'),
    says: [
      /^drover: Option '-f, --forks <hosts>' argument '0' is invalid\. It must be a whole number, 1 or more\. \[usage\]$/,
    ],
    fix: /drover run --help/,
  },
  'no time to wait': {
    argv: run('--stall-after', '0'),
    says: [/^drover: Option '--stall-after <seconds>' argument '0' is invalid\. .*\[usage\]$/],
    fix: /drover run --help/,
  },
  'uploads to nobody': {
    argv: run('--upload-forks', '0'),
    says: [/^drover: Option '--upload-forks <hosts>' argument '0' is invalid\. .*\[usage\]$/],
    fix: /drover run --help/,
  },
  'a rate that is none': {
    argv: run('--upload-limit', '10 apples'),
    says: [
      /^drover: Option '--upload-limit <rate>' argument '10 apples' is invalid\. It must be bytes a second such as .*\[usage\]$/,
    ],
    fix: /drover run --help/,
  },
  'a time that is no number': {
    argv: run('-T', '1.5'),
    says: [/^drover: .*'1\.5' is invalid\. .*\[usage\]$/],
    fix: /drover run --help/,
  },
  'forks that are no number': {
    argv: run('--concurrency', '1e3'),
    says: [/^drover: .*'1e3' is invalid\. .*\[usage\]$/],
    fix: /drover run --help/,
  },
  'an argument too many': {
    argv: run('web1'),
    files: good,
    says: [/^drover: Too many arguments.*\[usage\]$/],
    fix: /drover run --help/,
  },
  'an output there is not': {
    argv: run('-o', 'yaml'),
    says: [/^drover: .*'yaml' is invalid\. Allowed choices are text, json\. \[usage\]$/],
    fix: /./,
  },
  'a reason of two screens': {
    argv: run('--reason', 'a\u001b[2Jb'),
    says: [/^drover: Option '--reason <text>' argument 'a\\x1b\[2Jb' is invalid\..*\[usage\]$/],
    fix: /./,
  },
  'an option that the playbook would not look at': {
    argv: run('--fail-on-warnings', '--allow-start', 'kube2'),
    files: good,
    says: [/^drover: The playbook test has no use for --fail-on-warnings and --allow-start\. \[usage\]$/],
    fix: /fail_on_warnings/,
  },
  'a variable of -e that nothing uses': {
    argv: run('-e', 'chanel=x'),
    files: good,
    says: [/^drover: Nothing in test uses -e chanel\. \[usage\]$/],
    fix: /It uses: /,
  },
  'a log file that cannot be': {
    argv: run('--log-file', 'none/log'),
    files: good,
    says: [/^drover: The log file none\/log cannot be written\. \[usage\]$/],
    fix: /directory/,
  },
  'a directory of runs that cannot be': {
    argv: run('--runs-dir', 'hosts.yaml'),
    files: good,
    says: [/^drover: The run directory under \/.*\/hosts\.yaml cannot be made\. \[usage\]$/],
    fix: /directory/,
  },
  'an unknown task by name': {
    argv: ['tasks', 'as-it-si'],
    says: [/^drover: No task is called "as-it-si"\. \[usage\]$/],
    fix: /Did you mean as-it-is\?/,
  },
  'a condition without =': {
    argv: ['status', '-i', 'hosts.yaml', '--where', 'stuck'],
    files: good,
    says: [/^drover: --where stuck: .*\[usage\]$/],
    fix: /verdict=stuck/,
  },
  'a condition on no column': {
    argv: ['status', '-i', 'hosts.yaml', '--where', 'vedrict=stuck'],
    files: good,
    says: [/^drover: --where .* no column "vedrict"\. \[usage\]$/],
    fix: /Did you mean verdict\?/,
  },
  'a verdict there is not': {
    argv: ['status', '-i', 'hosts.yaml', '--where', 'verdict=stcuk'],
    files: good,
    says: [/^drover: --where .* No verdict is called "stcuk"\. \[usage\]$/],
    fix: /Did you mean stuck\?/,
  },

  'everything at once, all of one file and all of several': {
    argv: run('-e', 'novalue', '-l', 'nobody', '--private-key', 'key'),
    files: {
      ...steps('{task: as-it-si}', '{task: file-present, with: {paht: /x}}', '{taks: as-it-is}'),
      'hosts.yaml': 'hosts:\n  a: {prot: 22}\n  b: {port: 70000}\n',
    },
    says: [
      /^drover: hosts\.yaml:2:7 .*prot/,
      /^drover: hosts\.yaml:3:\d+ /,
      /^drover: \.\/p\.yaml:3:12 .*as-it-si/,
      /^drover: \.\/p\.yaml:4:\d+ .*paht/,
      /^drover: \.\/p\.yaml:5:\d+ .*taks/,
      /^drover: -e novalue /,
    ],
    fix: /Did you mean port\?/,
  },
  'a wrong pattern and a wrong key at once': {
    argv: run('-l', 'nobody', '-e', 'x=1'),
    files: steps('{task: as-it-si}'),
    says: [/^drover: .*"nobody".*\[pattern-no-match\]$/, /^drover: \.\/p\.yaml:3:12 .*\[playbook-invalid\]$/],
    fix: /Did you mean as-it-is\?/,
  },
}

test.each(Object.entries(cases))(
  '%s is exit 5 with its place and a remedy, and no host is touched',
  async (_name, { argv, files, env, says, fix }) => {
    const ran = await drover(argv, { tasks: testTasks, ...(files && { files }), ...(env && { env }) })
    const lines = ran.stderr.split('\n')
    for (const said of says)
      expect(
        lines.filter((line) => said.test(line)),
        ran.stderr,
      ).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('  fix: ')).join('\n')).toMatch(fix)
    expect(lines.filter((line) => line.startsWith('drover: ')).length).toBe(
      lines.filter((line) => line.startsWith('  fix: ')).length,
    )
    expect(ran).toMatchObject({ code: 5, stdout: '', connects: [] })
    expect(existsSync(join(ran.cwd, '.drover'))).toBe(false)
  },
)

test('a fault of drover itself is exit 1, and -vv shows where it is', async () => {
  const broken = new Map(testTasks)
  broken.set('as-it-is', {
    ...testTasks.get('as-it-is')!,
    get params(): never {
      throw new TypeError('a slip')
    },
  })
  const world = { tasks: broken, files: good }
  const brief = await drover(run(), world)
  expect(brief).toMatchObject({ code: 1, stdout: '', connects: [] })
  expect(brief.stderr).toBe(
    'drover: a slip [internal]\n  fix: This is a fault in drover. Run again with -vv and report what it prints.\n',
  )
  expect((await drover(run('-vv'), world)).stderr).toMatch(/caused by TypeError: a slip\n +at .*bad-input\.test\.ts/)
})
