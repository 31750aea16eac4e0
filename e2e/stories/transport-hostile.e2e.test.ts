import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type DroverEnd, drover } from '../support/drover.ts'
import { addUser, hostsFile, knowPort, startSshd, type UserOptions } from '../support/sshd.ts'

/** Story: accounts that would break a tool which trusts what comes over the wire. Each is read, or refused with its cause. */

interface Account extends Omit<UserOptions, 'name'> {
  /** A program that is the login shell, instead of `shell`. */
  readonly program?: string
  /** What status must find; nothing: the host is read like any other. */
  readonly refused?: { readonly code: string; readonly says: RegExp; readonly remedy: RegExp }
}

const noise = 'printf "\\036B 123\\n"; printf "{\\"a\\": \\377\\376\\033[31m"; echo to stderr >&2\n'

const accounts: Readonly<Record<string, Account>> = {
  dash: { shell: '/bin/dash' },
  bash: { shell: '/bin/bash' },
  fish: { shell: '/usr/bin/fish' },
  csh: { shell: '/usr/bin/tcsh' },
  zsh: { shell: '/usr/bin/zsh' },
  ksh: { shell: '/usr/bin/ksh93' },
  'prints-binary': { shell: '/bin/bash', files: { '.bashrc': noise } },
  'traces-itself': { shell: '/bin/bash', files: { '.bashrc': 'set -x\necho traced\n' } },
  'five-megabytes': {
    shell: '/bin/bash',
    files: { '.bashrc': 'head -c 5000000 /dev/zero | tr "\\0" x >&2\n' },
  },
  'sets-options': {
    shell: '/bin/bash',
    files: { '.bashrc': 'set -eu; export POSIXLY_CORRECT=1 CDPATH=/ IFS=/ PATH=/nowhere; alias printf=false\n' },
  },
  restricted: {
    shell: '/bin/rbash',
    refused: { code: 'channel-failed', says: /restricted/, remedy: /login shell/ },
  },
  nologin: {
    // What /usr/sbin/nologin does; the image has none.
    program: '#!/bin/sh\necho This account is currently not available.\nexit 1\n',
    refused: { code: 'channel-failed', says: /not available/, remedy: /login shell/ },
  },
  'says-no': { shell: '/bin/false', refused: { code: 'channel-failed', says: /exit status 1/, remedy: /login shell/ } },
  'kills-itself': {
    shell: '/bin/bash',
    files: { '.bashrc': 'kill -9 $$\n' },
    refused: { code: 'channel-failed', says: /SIGKILL/, remedy: /login shell/ },
  },
  'never-ends': {
    shell: '/bin/bash',
    files: { '.bashrc': 'yes\n' },
    refused: { code: 'inspect-failed', says: /more than \d+ bytes/, remedy: /login script/ },
  },
  'cuts-the-end': {
    program: '#!/bin/sh\n/bin/sh -c "$2" | head -c 700\n',
    refused: { code: 'connection-lost', says: /before its answer was complete/, remedy: /journal/ },
  },
  'eats-input': {
    program: '#!/bin/sh\nhead -c 100 >/dev/null\nexec /bin/sh -c "$2"\n',
    sudoers: ['NAME ALL=(root) NOPASSWD: ALL'],
    refused: { code: 'channel-failed', says: /did not arrive as it was sent/, remedy: /standard input/ },
  },
}

const firstPort = 2300
const names = Object.keys(accounts)
const portOf = (name: string): number => firstPort + names.indexOf(name)

let lab: Lab
let host: LabHost

beforeAll(async () => {
  lab = await openLab('transport-hostile', { yes: true })
  host = await lab.boot({ name: 'odd', image: 'ubuntu-like-shells' })
  for (const [name, { program, ...account }] of Object.entries(accounts)) {
    if (program !== undefined) await host.put(`/usr/local/bin/${name}`, program, '0755')
    await addUser(lab, host, { name, ...account, ...(program !== undefined && { shell: `/usr/local/bin/${name}` }) })
    await knowPort(lab, host, portOf(name))
  }
  await host.put('/etc/issue.net', `${'a banner of many lines {"x": 1}\n'.repeat(900)}`)
  // One sshd listens on sixteen sockets at the most.
  for (let from = 0; from < names.length; from += 12) {
    const [port = 0, ...others] = names.slice(from, from + 12).map(portOf)
    const ports = others.map((other) => `Port ${other}`)
    await startSshd(host, { port, lines: ['AddressFamily inet', ...ports, 'Banner /etc/issue.net', 'PrintMotd yes'] })
  }
})

afterAll(() => lab?.close())

interface Row {
  readonly host: string
  readonly status: { readonly verdict: string } | null
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly remedy: string
    readonly detail?: string
  }
}

const inventory = (transport: string): string =>
  hostsFile(
    lab,
    transport,
    Object.fromEntries(
      names.map((name) => [
        name,
        { address: host.address, port: portOf(name), user: name, become: name === 'eats-input' },
      ]),
    ),
    { transport },
  )

describe.each(['ssh2', 'openssh'])('by %s', (transport) => {
  let looked: DroverEnd
  let rows: readonly Row[]

  beforeAll(async () => {
    looked = await drover(lab, ['status', '-o', 'json'], { inventory: inventory(transport), timeoutMs: 150_000 })
    rows = (JSON.parse(looked.stdout) as { hosts: Row[] }).hosts
  }, 180_000)

  test.each(names)('%s', (name) => {
    const row = rows.find((each) => each.host === name)
    const refused = accounts[name]?.refused
    if (refused === undefined) {
      expect(row?.error).toBeNull()
      expect(row?.status?.verdict).toBe('no-agent')
      return
    }
    const { code, message = '', remedy = '', detail = '' } = row?.error ?? {}
    expect(code, message).toBe(refused.code)
    expect(`${message}\n${detail}`).toMatch(refused.says)
    expect(remedy).toMatch(refused.remedy)
  })

  test('nothing of it reaches the terminal as a control character', () => {
    expect(looked.stdout + looked.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  })
})

describe('a login banner of 60 KB', () => {
  const look = async (transport: string): Promise<DroverEnd> => {
    const wordy = { address: host.address, port: 2299, user: 'dash', transport }
    return drover(lab, ['status', '-o', 'json'], { inventory: hostsFile(lab, 'wordy', { wordy }) })
  }

  beforeAll(async () => {
    await host.put('/etc/issue.long', 'a banner of many lines\n'.repeat(2700))
    await startSshd(host, { port: 2299, lines: ['Banner /etc/issue.long'] })
    await knowPort(lab, host, 2299)
  })

  test("is too long for drover's own client, which says so", async () => {
    const { error } = (JSON.parse((await look('ssh2')).stdout) as { hosts: Row[] }).hosts[0] as Row
    expect([error?.code, error?.message]).toEqual(['handshake-failed', expect.stringContaining('35,000 bytes')])
    expect(error?.remedy).toContain('transport: openssh')
  })

  test.each(['openssh', 'auto'])('is nothing by %s', async (transport) => {
    const looked = await look(transport)
    const [row] = (JSON.parse(looked.stdout) as { hosts: Row[] }).hosts
    expect(row?.error, JSON.stringify(row?.error)).toBeNull()
    if (transport === 'auto') expect(looked.stderr).toContain("goes by this machine's ssh: its login banner")
  })
})
