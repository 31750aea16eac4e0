import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import { parseKnownHosts } from '../../src/transport/host-keys/known-hosts-line.ts'
import { linesFor } from '../../src/transport/host-keys/known-hosts-lookup.ts'
import { isNewEnough, parseVersion } from '../../src/transport/openssh/client-version.ts'
import { masterError } from '../../src/transport/openssh/master-errors.ts'
import { MasterLog } from '../../src/transport/openssh/master-log.ts'
import { NoWayThrough } from '../../src/transport/openssh/why-not-through.ts'
import { Setback } from '../../src/transport/pacing/setback.ts'
import { fakeHost } from './fake-host.ts'

const host = fakeHost({ address: '192.0.2.1', port: 2222, user: 'root' })
const begun = 'debug1: OpenSSH_10.0p2 Debian-7+deb13u4, OpenSSL 3.5.9 29 Sep 2026'
const connecting = `${begun}\ndebug1: Connecting to 192.0.2.1 [192.0.2.1] port 2222.`
const connected = `${connecting}\ndebug1: Connection established.`
const greeted = `${connected}\ndebug1: Remote protocol version 2.0, remote software version OpenSSH_9.2p1\ndebug1: Authenticating to 192.0.2.1:2222 as 'root'`
const shown = `${greeted}\ndebug1: Server host key: ssh-ed25519 SHA256:AEECyN+2ruxIriKrYWucDScNSXSqniZWqOHLvbOgzs0`
const loggingIn = `${shown}\ndebug1: SSH2_MSG_SERVICE_ACCEPT received\ndebug1: Authentications that can continue: publickey,password`
const offered = `${loggingIn}\ndebug1: Offering public key: /k/id ED25519 SHA256:bVsyM1tL1vtkS4Pp+qZzIReft33EQpwnV1SXq516XM8 explicit`

const logOf = (text: string): MasterLog => {
  const log = new MasterLog()
  log.push(`${text}\n`)
  return log
}
const errorOf = (
  text: string,
  { hasPassword = false, knownHosts = '', via }: { hasPassword?: boolean; knownHosts?: string; via?: string } = {},
) =>
  masterError({
    host,
    log: logOf(text),
    hasPassword,
    via,
    connectMs: 2_000,
    known: linesFor(parseKnownHosts(knownHosts, '/known').lines, host.address, host.port),
    handshakeMs: 5_000,
  })

const denied = 'root@192.0.2.1: Permission denied (publickey,password).'

/** What ssh said when it ended, and what it means. */
const table: readonly [what: string, said: string, code: ErrorCode, message: RegExp][] = [
  [
    'a name that is none',
    `${begun}\nssh: Could not resolve hostname nowhere.invalid: Name or service not known`,
    'resolve-failed',
    /does not resolve: Name or service not known/,
  ],
  [
    'a bad configuration',
    '/home/u/.ssh/config: line 3: Bad configuration option: foo\n/home/u/.ssh/config: terminating, 1 bad configuration options',
    'ssh-config-invalid',
    /bad configuration options/,
  ],
  [
    'a configuration that is not there',
    "Can't open user config file /nonexistent: No such file or directory",
    'ssh-config-invalid',
    /config file/,
  ],
  [
    'nobody listening',
    `${connecting}\ndebug1: connect to address 192.0.2.1 port 2222: Connection refused\nssh: connect to host 192.0.2.1 port 2222: Connection refused`,
    'connect-failed',
    /^No TCP connection to 192\.0\.2\.1 port 2222: connection refused\.$/,
  ],
  [
    'silence',
    `${connecting}\nssh: connect to host 192.0.2.1 port 2222: Connection timed out`,
    'connect-timeout',
    /timed out/,
  ],
  [
    'no route',
    `${connecting}\nssh: connect to host 192.0.2.1 port 2222: No route to host`,
    'connect-failed',
    /no route to the host/,
  ],
  [
    'a ProxyCommand that fails',
    `${begun}\ndebug1: Executing proxy command: exec false\nkex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535`,
    'connect-failed',
    /ProxyCommand/,
  ],
  [
    'no banner in time',
    `${connected}\nConnection timed out during banner exchange`,
    'handshake-failed',
    /did not end within 5000 ms/,
  ],
  [
    'another kind of server',
    `${connected}\ndebug1: kex_exchange_identification: banner line 0: HTTP/1.1 400 Bad Request\nkex_exchange_identification: Connection closed by remote host`,
    'handshake-failed',
    /is no SSH server/,
  ],
  [
    'too many logins',
    `${connected}\ndebug1: kex_exchange_identification: banner line 0: Exceeded MaxStartups\nConnection closed by 192.0.2.1 port 2222`,
    'handshake-failed',
    /MaxStartups/,
  ],
  [
    'being shut out',
    `${connected}\ndebug1: kex_exchange_identification: banner line 0: Not allowed at this time\nConnection reset by 192.0.2.1 port 2222`,
    'handshake-failed',
    /PerSourcePenalties/,
  ],
  [
    'a line that is cut',
    `${connected}\nkex_exchange_identification: read: Connection reset by peer\nConnection reset by 192.0.2.1 port 2222`,
    'handshake-failed',
    /closed the connection before/,
  ],
  [
    'a line that is cut after the greeting',
    `${greeted}\nConnection reset by 192.0.2.1 port 2222`,
    'handshake-failed',
    /it closed the connection/,
  ],
  [
    'a ProxyCommand to one that shuts us out',
    `${begun}\ndebug1: Executing proxy command: exec nc x\ndebug1: kex_exchange_identification: banner line 0: Not allowed at this time\nConnection closed by UNKNOWN port 65535`,
    'handshake-failed',
    /PerSourcePenalties/,
  ],
  [
    'a ProxyCommand to one with too many logins',
    `${begun}\ndebug1: Executing proxy command: exec nc x\ndebug1: kex_exchange_identification: banner line 0: Exceeded MaxStartups\nConnection closed by UNKNOWN port 65535`,
    'handshake-failed',
    /MaxStartups/,
  ],
  [
    'nothing in common',
    `${greeted}\nUnable to negotiate with 192.0.2.1 port 2222: no matching key exchange method found. Their offer: diffie-hellman-group14-sha1`,
    'handshake-failed',
    /no matching key exchange method found/,
  ],
  [
    'a key nobody knows',
    `${shown}\nNo ED25519 host key is known for [192.0.2.1]:2222 and you have requested strict checking.\nHost key verification failed.`,
    'host-key-unknown',
    /it shows ssh-ed25519 SHA256:AEECyN/,
  ],
  [
    'another key',
    `${shown}\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.`,
    'host-key-changed',
    /shows another key .* ssh-ed25519 SHA256:AEECyN/,
  ],
  [
    'a revoked key',
    `${shown}\n@       WARNING: REVOKED HOST KEY DETECTED!               @\nHost key verification failed.`,
    'host-key-revoked',
    /SHA256:AEECyN/,
  ],
  ['keys that are refused', `${offered}\n${denied}`, 'auth-failed', /it refused every key/],
  ['no key at all', `${loggingIn}\n${denied}`, 'auth-failed', /no key to offer/],
  [
    'no key taken',
    `${shown}\ndebug1: SSH2_MSG_SERVICE_ACCEPT received\ndebug1: Authentications that can continue: password\nroot@192.0.2.1: Permission denied (password).`,
    'auth-failed',
    /it takes only password/,
  ],
  [
    'a second factor',
    `${offered}\nAuthenticated using "publickey" with partial success.\ndebug1: Authentications that can continue: keyboard-interactive\nroot@192.0.2.1: Permission denied (keyboard-interactive).`,
    'auth-failed',
    /also wants keyboard-interactive/,
  ],
  [
    'a key file that ssh does not take',
    `${offered}\nLoad key "/k/id": bad permissions\n${denied}`,
    'auth-failed',
    /bad permissions/,
  ],
  [
    'too many keys',
    `${offered}\nReceived disconnect from 192.0.2.1 port 2222:2: Too many authentication failures`,
    'auth-failed',
    /refused every key/,
  ],
  [
    'an account that is not let in',
    `${offered}\ndebug1: Server accepts key: /k/id ED25519 SHA256:x\nYour account has expired.\nConnection closed by 192.0.2.1 port 2222`,
    'connection-lost',
    /broke during the login/,
  ],
  [
    'a host on its way up, which lets in nobody but root',
    `${offered}\ndebug1: Server accepts key: /k/id ED25519 SHA256:x\n"System is booting up. See pam_nologin(8)"\nConnection closed by 192.0.2.1 port 2222`,
    'connection-lost',
    /broke during the login/,
  ],
  [
    'a line that breaks after the key was accepted',
    `${offered}\ndebug1: Server accepts key: /k/id ED25519 SHA256:x\nConnection reset by 192.0.2.1 port 2222`,
    'connection-lost',
    /broke during the login/,
  ],
  [
    'a login that breaks',
    `${offered}\nConnection closed by 192.0.2.1 port 2222`,
    'connection-lost',
    /broke during the login of root/,
  ],
]

describe('what ssh says at its end', () => {
  test.each(table)('%s', (_, said, code, message) => {
    const error = errorOf(said)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
    expect(error.remedy).not.toBe('')
  })

  test('what ssh says by the way is no cause', () => {
    const aside = 'Warning: Permanently added x to the list of known hosts.\n** WARNING: not post-quantum.'
    const error = errorOf(`${shown}\n${aside}\nConnection closed by 192.0.2.1 port 2222`)
    expect(error).toMatchObject({
      code: 'handshake-failed',
      message: expect.stringContaining('it closed the connection'),
    })
  })

  test('a password that is refused', () => {
    expect(errorOf(`${offered}\n${denied}`, { hasPassword: true }).message).toMatch(/refused the password/)
  })

  test('the keys that were offered, and by whom', () => {
    const agent = 'debug1: Offering public key: me@laptop RSA SHA256:x agent'
    expect(errorOf(`${offered}\n${agent}\n${denied}`).detail?.split('\n').slice(0, 2)).toEqual([
      'offered: /k/id (ssh-ed25519 SHA256:bVsyM1tL1vtkS4Pp+qZzIReft33EQpwnV1SXq516XM8)',
      'offered: ssh-agent (ssh-rsa SHA256:x)',
    ])
  })

  test.each([
    ['nobody listening', 'refused'],
    ['too many logins', 'crowded'],
    ['being shut out', 'shut-out'],
    ['a line that is cut', 'dropped'],
    ['a line that is cut after the greeting', 'cut'],
    ['a ProxyCommand to one that shuts us out', 'shut-out'],
    ['a ProxyCommand to one with too many logins', 'crowded'],
    ['no banner in time', 'late'],
    ['an account that is not let in', 'hung-up'],
  ])('%s may be tried again, as %s', (what, kind) => {
    const error = errorOf(table.find(([name]) => name === what)?.[1] ?? '')
    expect(error).toBeInstanceOf(Setback)
    expect(error).toMatchObject({ kind })
  })

  test('a jump host that gives no way is asked for the reason, and nobody else is', () => {
    const said = `${begun}\ndebug1: Executing proxy command: exec ssh -W\nStdio forwarding request failed: Session open refused by peer`
    const error = errorOf(said, { via: 'gate' })
    expect(error).toBeInstanceOf(NoWayThrough)
    expect(error).toMatchObject({ code: 'connect-failed', message: expect.stringContaining('Jump host gate') })
    for (const [, other] of table) expect(errorOf(other)).not.toBeInstanceOf(NoWayThrough)
  })

  test('a banner of the host cannot pass for what ssh says of its key', () => {
    const banner =
      '@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\ndebug1: Server host key: ssh-rsa SHA256:forged'
    const log = logOf(`${offered}\n${banner}`)
    expect(log.shownKey).toMatch(/^ssh-ed25519 SHA256:AEECyN/)
    expect(errorOf(`${offered}\n${banner}\n${denied}`).code).toBe('auth-failed')
  })

  test('control characters stay out of the error', () => {
    const error = errorOf(`${offered}\n\x1b[2J\x1b]0;x\x07evil\n${denied}`)
    expect(`${error.message}${error.detail}`).not.toMatch(/[\x00-\x09\x0b-\x1f]/)
  })
})

describe('how far ssh has come', () => {
  test.each([
    ['', 'start'],
    [begun, 'resolve'],
    [connecting, 'connect'],
    [connected, 'handshake'],
    [`${begun}\ndebug1: Executing proxy command: exec x`, 'connect'],
    [
      `${begun}\ndebug1: Executing proxy command: exec x\ndebug1: mux_client_request_stdio_fwd: master session id: 3`,
      'handshake',
    ],
    [loggingIn, 'authenticate'],
    [`${offered}\ndebug1: Entering interactive session.`, 'open'],
  ])('%j', (text, stage) => expect(logOf(text).stage).toBe(stage))

  test('whatever pieces it comes in', () => {
    const whole = logOf(`${offered}\ndebug1: Entering interactive session.`)
    const log = new MasterLog()
    for (const char of `${offered}\ndebug1: Entering interactive session.\n`) log.push(char)
    expect(log).toEqual(whole)
    expect(log).toMatchObject({ version: 'SSH-2.0-OpenSSH_9.2p1', login: 'root@192.0.2.1', stage: 'open' })
  })

  test('a line without end is not kept', () => {
    const log = new MasterLog()
    for (let index = 0; index < 1_000; index += 1) log.push('x'.repeat(10_000))
    log.push('\n')
    expect(log.words.join('').length).toBeLessThan(10_000)
  })
})

describe('the ssh of this machine', () => {
  test.each([
    ['OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19 27 Jan 2026', true],
    ['OpenSSH_8.7p1, OpenSSL 3.5.1', true],
    ['OpenSSH_8.6p1, LibreSSL 3.3.6', false],
    ['OpenSSH_7.4p1', false],
    ['OpenSSH_10.0p2', true],
  ])('%s', (said, isGood) => {
    const version = parseVersion(said)
    expect(version !== null && isNewEnough(version)).toBe(isGood)
  })
  test('another program', () => expect(parseVersion('Dropbear v2022.83')).toBeNull())
})
