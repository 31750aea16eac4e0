import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createSsh2Transport } from '../../src/transport/ssh2/ssh2-transport.ts'
import type { LabHost } from '../lab/host.ts'
import { knownHostsText } from '../lab/keys.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { anyItem, bytesPlaybook, expected, found, hostileItems, type Item, packedItems } from '../support/bytes.ts'
import { inventoryHost } from '../support/core.ts'
import { type DroverEnd, drover, execsOf } from '../support/drover.ts'

/** Story: what an operator writes arrives on the host byte for byte, whatever it is and whatever shells are on the way. */

let lab: Lab
/** Systemd 252 and 257, each with a dash and a bash. */
let hosts: LabHost[]
let shells: LabHost

beforeAll(async () => {
  lab = await openLab('bytes', { yes: true })
  ;[shells, ...hosts] = await Promise.all([
    lab.boot({ name: 'shells', image: 'ubuntu-like-shells' }),
    lab.boot({ name: 'rhel9', image: 'rhel9-like' }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like' }),
  ])
})

afterAll(() => lab?.close())

let batches = 0

/** Run a playbook that brings these items to hosts, from the files that an operator would have. */
const bring = async (items: readonly Item[], args: readonly string[], inventory?: string) => {
  batches += 1
  const base = `/srv/bytes/${batches}`
  const { playbook, vars } = bytesPlaybook(items)
  writeFileSync(join(lab.folder, 'bytes.yaml'), playbook)
  writeFileSync(join(lab.folder, 'vars.yaml'), vars)
  const run = (...more: readonly string[]): Promise<DroverEnd> =>
    drover(
      lab,
      ['run', './bytes.yaml', '-e', '@vars.yaml', '-e', `base=${base}`, ...args, ...more],
      inventory === undefined ? {} : { inventory },
    )
  return { base, run }
}

describe.each([
  ['dash', 0],
  ['bash', 1],
] as const)('through %s as /bin/sh', (shell, turn) => {
  beforeAll(() => Promise.all(hosts.map((host) => host.must('ln -sfn "$1" /usr/bin/sh', [shell]))))

  const arrives = async (items: readonly Item[]): Promise<void> => {
    const { base, run } = await bring(items, ['-l', 'rhel9,ubuntu24'])
    const first = await run()
    expect(first.code, first.stdout + first.stderr).toBe(0)
    for (const host of hosts) expect(await found(host, base, items.length), host.name).toEqual(expected(items))
    const second = await run()
    expect(second.code, second.stdout + second.stderr).toBe(0)
    for (const host of hosts) {
      expect(second.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
      expect(execsOf(second, host.name)).toEqual(['inspect'])
    }
  }

  test('texts known to be hostile arrive as names, contents, targets and arguments, and a second run finds them so', () =>
    arrives(hostileItems(turn)))

  test('any text arrives byte for byte, and a second run finds it so', async () => {
    // Without shrinking: a failure names the item, and each smaller one would cost seconds.
    await fc.assert(fc.asyncProperty(fc.array(anyItem, { minLength: 16, maxLength: 24 }), arrives), {
      numRuns: 1,
      seed: 437 + turn,
      endOnFailure: true,
    })
  })
})

describe('the login shell', () => {
  const names = ['dash', 'bash', 'zsh', 'ksh93', 'fish', 'tcsh'] as const
  /** For each shell a user with uid 0, for whom the script is an argument, and one who uses sudo, for whom it is input. */
  const users = names.flatMap((shell) => [
    { user: `${shell}-root`, shell, become: false, address: '' },
    { user: `${shell}-user`, shell, become: true, address: '' },
  ])
  let inventory: string

  beforeAll(async () => {
    await shells.put('/usr/local/bin/noise', noise, '0755')
    await shells.put('/etc/sudoers.d/lab', '%lab ALL=(ALL) NOPASSWD: ALL\n', '0440')
    await shells.must('groupadd lab')
    const network = shells.address.replace(/\d+$/, '')
    const entries: [string, object][] = []
    const publicKeys = await shells.hostKeys()
    const known = []
    for (const [index, each] of users.entries()) {
      const { user, shell, become } = each
      // One machine under several addresses: under one it would be refused as the same.
      const address = `${network}${200 + index}`
      each.address = address
      await shells.must(addUser, [
        user,
        `/usr/bin/${shell}`,
        become ? '' : '-o -u 0',
        lab.key.authorizedLine,
        `${address}/24`,
      ])
      entries.push([user, { address, user, become }])
      known.push({ address, publicKeys })
    }
    writeFileSync(join(lab.folder, 'known_shells'), knownHostsText(known))
    inventory = join(lab.folder, 'shells.yaml')
    const settings = { known_hosts: './known_shells', identity_file: './id_ed25519' }
    writeFileSync(inventory, stringify({ ...settings, hosts: Object.fromEntries(entries) }))
  })

  test('really is the one that is named, and prints on both streams before any command', async () => {
    const transport = createSsh2Transport({
      deadlines: { resolveMs: 5000, connectMs: 10_000, handshakeMs: 20_000, authMs: 20_000, channelMs: 10_000 },
      passphrase: () => undefined,
    })
    try {
      for (const { user, shell, address } of users) {
        const connection = await transport.connect({
          ...inventoryHost(lab, shells),
          name: user,
          user,
          address,
          knownHostsFiles: [join(lab.folder, 'known_shells')],
        })
        const said = await connection.exec({
          command: "sh -c 'readlink /proc/$PPID/exe; id -u'; true",
          deadlineMs: 20_000,
          maxBytes: 10_000,
        })
        expect(said.stdout.toString(), user).toMatch(/^welcome, /)
        expect(said.stderr.toString(), user).toMatch(/^tput: unknown terminal/)
        expect(said.stdout.toString(), user).toContain(`/${shell}`)
        expect(said.stdout.toString(), user).toMatch(user.endsWith('-root') ? /\n0\n$/ : /\n\d{4}\n$/)
        await connection.close()
      }
    } finally {
      await transport.close()
    }
  })

  test('dash, bash, zsh, ksh, fish or tcsh, with profiles that print: hostile texts arrive, and a second run finds them', async () => {
    const items = packedItems(6)
    const { run } = await bring(items, ['-e', 'base=/srv/bytes/${host.name}'], inventory)
    // Each in a run of its own: behind all names is one machine, and one run changes it under one name.
    for (const { user } of users) {
      const first = await run('-l', user)
      expect(first.host(user).outcome, first.stdout + first.stderr).toBe('changed')
      expect(await found(shells, `/srv/bytes/${user}`, items.length), user).toEqual(expected(items))
    }
    const second = await run()
    expect(second.report?.totals, second.stdout + second.stderr).toMatchObject({ unchanged: users.length })
  })

  test('of any kind, drover status sees the host with the rights of root', async () => {
    // No more at once: one sshd turns away some of ten that have not logged in yet.
    const status = await drover(lab, ['status', '-o', 'json', '-f', '6'], { inventory })
    expect(status.code, status.stderr).toBe(0)
    const { hosts: rows } = JSON.parse(status.stdout) as {
      hosts: { host: string; withoutRoot: boolean; status: object }[]
    }
    expect(rows.map(({ host }) => host)).toEqual(users.map(({ user }) => user))
    for (const row of rows) expect(row, row.host).toMatchObject({ withoutRoot: false, status: { verdict: 'no-agent' } })
  })
})

/** What a login script may print: on both streams, like a mark of drover's, and without an end of line. */
const noise = `#!/bin/sh
printf 'welcome, %s\\n\\036B 0\\n\\036E 0 0\\nno newline' "$USER"
printf 'tput: unknown terminal\\n\\036B 0\\nno newline' >&2
`

/** addUser NAME SHELL UID KEY ADDRESS : each of the shells has a file that it reads for a command over SSH, dash and ksh have sshd's. */
const addUser = `set -eu
useradd --create-home --shell "$2" $3 -g lab "$1"
cd "$(getent passwd "$1" | cut -d: -f6)"
mkdir -p .ssh .config/fish
printf '%s\\n' "$4" >.ssh/authorized_keys
for file in .ssh/rc .bashrc .zshenv .config/fish/config.fish .tcshrc .profile .kshrc; do echo /usr/local/bin/noise >$file; done
for setting in POSIXLY_CORRECT=1 CDPATH=/ LC_ALL=C.UTF-8 TZ=Asia/Tokyo SYSTEMD_LOG_LEVEL=debug SYSTEMD_COLORS=1 QUOTING_STYLE=c \\
  BLOCK_SIZE=1M TAR_OPTIONS=-v LS_COLORS=di=1 ENV=/nowhere BASH_ENV=/nowhere PATH=/usr/bin:/bin; do
  echo "export $setting" | tee -a .bashrc >>.zshenv
  echo "set -x \${setting%%=*} \${setting#*=}" >>.config/fish/config.fish
  echo "setenv \${setting%%=*} \${setting#*=}" >>.tcshrc
done
echo 'set -C; alias printf=false' >>.bashrc
echo 'setopt noclobber extendedglob' >>.zshenv
printf 'set noclobber\\nset noglob\\n' >>.tcshrc
chown -R "$1:lab" .
chmod 0700 .ssh
ip address add "$5" dev eth0
`
