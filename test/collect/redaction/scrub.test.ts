import { createHash, generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scrub } from '../../../src/collect/redaction/scrub.ts'

const cleanOf = (text: string): string => scrub(text).text

describe('stays as it is', () => {
  test.each([
    'Nov 30 14:55:06 node7 systemd[1]: Started aks-flex-node-agent.service - AKS Flex Node Agent.',
    '2026-11-30T14:55:06+0000 node7 systemd[1]: aks-flex-node-agent.service: Scheduled restart job, restart counter is at 5.',
    '2026-11-30T14:55:06+0000 node7 systemd[1]: Reached target basic.target - Basic System.',
    '2026-11-30T14:55:06+0000 node7 systemd[1]: systemd-ask-password-wall.service: Deactivated successfully.',
    '2026-11-30T14:55:06+0000 node7 sshd[77]: Accepted publickey for root from 10.0.0.1 port 51234 ssh2: ED25519 SHA256:0CEuDUyPpIlZzfYPYcWNhYbUBgVbSWfDFVbKX4yjXbk',
    'ExecStart=/opt/unbounded/agent/lib/aks-flex-node/aks-flex-node-current agent --config /etc/aks-flex-node/config.json',
    "ExecStartPre=/bin/sh -c 'mountpoint -q /run/bpffs/kube1 && x=1 || mount -t bpf bpf /run/bpffs/kube1'",
    'Environment=SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1',
    "lrwxrwxrwx 777 root:root 45 2026-11-30 14:55:06.123456789 +0000 '/usr/local/bin/aks-flex-node' -> '/usr/local/lib/aks-flex-node/aks-flex-node-current'",
    `${'0123456789abcdef'.repeat(4)}  /usr/local/lib/aks-flex-node/aks-flex-node-blue`,
    '36 35 98:0 / /var/lib/containers/storage/overlay/3f29c1de40a1b5c7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5/merged rw,noatime shared:1 - ext4 /dev/sda1 rw',
    '"kubernetes": "1.33.3"',
    'clientSecretFile: /etc/aks-flex-node/credentials/sp-client-secret',
    'fetch-bootstrap-data --sp-client-secret-file /etc/aks-flex-node/credentials/sp-client-secret --auth arc',
    'Documentation=https://www.freedesktop.org/software/systemd/man/latest/systemd-nspawn.html man:systemd-nspawn(1)',
    'pulling oci://registry.example.com:5000/kube/worker@sha256:abc',
    '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/lab/providers/Microsoft.ContainerService/managedClusters/lab',
    'requireToken: true, tokenFile: "/run/token", "password": null, "secret": ""',
    'a bootstrap token is missing and the password was refused; no secret is left',
    '2026-11-30T14:55:06+0000 node7 sshd[77]: pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh',
    '2026-11-30T14:55:06+0000 node7 sudo[78]: admin : TTY=pts/0 ; PWD=/home/admin ; USER=root ; COMMAND=/usr/bin/true',
    'OLDPWD=/root',
    '2026-11-30T14:55:06+0000 node7 systemd[1]: a.service: Failed to set up credentials: Permission denied',
    '2026-11-30T14:55:06+0000 node7 kernel: traps: agent[7] exited, sig=11 res=1',
    'LoadCredential=join:/etc/aks-flex-node/join',
    'PassEnvironment=LANG PassCredentials=no bypass=on trespass: never compass: north',
    'ExecStart=/usr/bin/fetch --auth=arc --auth-mode=arc --authorization-mode=Node',
    'node7 agent[3]: the checks pass: all of them, and auth: failed. passes=3 signal: x design=old',
    '/etc/aks-flex-node/credentials: only root may read it',
    '-'.repeat(200),
    'type=AVC msg=audit(1764514506.123:456): avc:  denied  { execute } for  pid=1 comm="(ux-agent)" name="aks-flex-node-blue" scontext=system_u:system_r:init_t:s0 tcontext=system_u:object_r:usr_t:s0 tclass=file permissive=0',
  ])('%s', (line) => {
    expect(scrub(`before\n${line}\nafter\n`)).toEqual({ text: `before\n${line}\nafter\n`, hidden: 0 })
  })
})

describe('is hidden', () => {
  test.each([
    ['token: abc', 'token: [redacted]'],
    ['{"token":"a\\"b","next":1}', '{"token":[redacted],"next":1}'],
    ['"bootstrapToken": {"token": "x", "deep": {"y": "}"}}, "next": 1', '"bootstrapToken": [redacted], "next": 1'],
    ['"tokens": ["a", "b"], "next": 1', '"tokens": [redacted], "next": 1'],
    ['msg="{\\"clientSecret\\":\\"x y\\"}" level=info', 'msg="{\\"clientSecret\\":[redacted]}" level=info'],
    ['PASSWORD=correct horse battery', 'PASSWORD=[redacted]'],
    ['Environment="AZURE_CLIENT_SECRET=a b" "X=1"', 'Environment="AZURE_CLIENT_SECRET=[redacted]'],
    ['SetCredential=pass:word', 'SetCredential=[redacted]'],
    ['run --token abc --verbose', 'run --token [redacted] --verbose'],
    ['run --password=abc --verbose', 'run --password=[redacted] --verbose'],
    ['caCertData: LS0tLS1', 'caCertData: [redacted]'],
    ['a:\n  secret: |\n    one\n\n    two\n  next: 1', 'a:\n  secret: [redacted]\n  next: 1'],
    ['a:\n  secret:\n    one\n  next: 1', 'a:\n  secret:[redacted]\n  next: 1'],
    ['Authorization: Basic dXNlcjpw c3M=', 'Authorization: [redacted]'],
    ['curl -H "Authorization: Bearer abcdefgh" x', 'curl -H "Authorization: [redacted]" x'],
    ['sent bearer abcdefgh to it', 'sent bearer [redacted] to it'],
    ['joined with abcdef.0123456789abcdef now', 'joined with [redacted] now'],
    ['https://user:p@ss@host/path', 'https://[redacted]@host/path'],
    ['https://user:pa/ss@host/path', 'https://[redacted]@host/path'],
    ['get https://host/a.tar.gz?sv=1&sig=abc%3D now', 'get https://host/a.tar.gz?[redacted] now'],
    ['"GET /x?code=abc HTTP/1.1"', '"GET /x?[redacted] HTTP/1.1"'],
    ['root:$6$saltsalt$abcdefghijklmnop:19000', 'root:[redacted]:19000'],
    ['get %2Fa%3Fsv%3D1%26sig%3DSECRET%26se%3D2 now', 'get %2Fa%3F[redacted] now'],
    ['get %252Fa%253Fsv%253D1%2526sig%253DSECRET now', 'get %252Fa%253F[redacted] now'],
    ['of https%3A%2F%2Fuser%3Apw%40host%2Fa', 'of https%3A%2F%2F[redacted]%40host%2Fa'],
    ['sig=abc%3D', 'sig=[redacted]'],
    ['with sig=abc%3D&se=1 now', 'with sig=[redacted] now'],
    ['\\u0026sig=abc', '\\u0026sig=[redacted]'],
    ['with sig%3Dabc%3D now', 'with sig%3D[redacted] now'],
    ['{"auths":{"r.example.com":{"auth":"dXNlcjpwYXNz"}}}', '{"auths":{"r.example.com":{"auth":[redacted]}}}'],
    ['took auth=dXNlcjpwYXNz now', 'took auth=[redacted] now'],
    ['%22auth%22%3A%22dXNlcjpwYXNz%22', '%22auth%22%3A%22[redacted]'],
    ['PGPASS=a b', 'PGPASS=[redacted]'],
    ['run ADMIN_PASS=a ADMIN_PASS_2=b x', 'run ADMIN_PASS=[redacted] ADMIN_PASS_2=[redacted] x'],
    ['dbPass: a', 'dbPass: [redacted]'],
    ['Server=x;Uid=y;Pwd=abc;', 'Server=x;Uid=y;Pwd=[redacted]'],
    ['run --pwd abc --verbose', 'run --pwd [redacted] --verbose'],
    ['pwd=abc', 'pwd=[redacted]'],
    ['DB_PWD=/abc', 'DB_PWD=[redacted]'],
    ['credential: abc', 'credential: [redacted]'],
    ['the credentials: user:pa55 were taken', 'the credentials: [redacted] were taken'],
    ['awsCredentials="abc" next', 'awsCredentials=[redacted] next'],
    ['certificate-key: 0a1b2c', 'certificate-key: [redacted]'],
    ['certificateKey: 0a1b2c', 'certificateKey: [redacted]'],
    ['join --certificate-key 0a1b2c --v=5', 'join --certificate-key [redacted] --v=5'],
    ['is abc8Q~ABCDEFGHIJKLMNOPQRSTUVWXYZ012345 it', 'is [redacted] it'],
  ])('%s', (line, wanted) => {
    expect(cleanOf(line)).toBe(wanted)
    // What was hidden once is left alone the second time.
    expect(cleanOf(wanted)).toBe(wanted)
  })

  test('a private key, whatever its lines begin with, and half of one where a text was cut', () => {
    const line = 'MIIEvQIBADANBgkqhkiG9w0B'
    const key = ['-----BEGIN RSA PRIVATE KEY-----', line, 'short', '-----END RSA PRIVATE KEY-----']
    expect(cleanOf(`a\n${key.map((each) => `x[1]: ${each}`).join('\n')}\nb`)).toBe('a\nx[1]: [redacted]\nb')
    expect(cleanOf(`a ${key.join('\\n')} b`)).toBe('a [redacted] b')
    expect(cleanOf(`${key.slice(1).join('\n')}\nb`)).toBe('[redacted]\nb')
    expect(cleanOf(`a\n${key.slice(0, 3).join('\n')}`)).toBe('a\n[redacted]')
    expect(cleanOf('-----BEGIN CERTIFICATE-----')).toBe('-----BEGIN CERTIFICATE-----')
  })
})

/** Characters that look random, from a number: arrays of bytes shrink to what no secret looks like. */
const characters = (alphabet: string, length: number): fc.Arbitrary<string> =>
  fc.nat().map((seed) => {
    let text = ''
    for (let round = 0; text.length < length; round += 1)
      for (const byte of createHash('sha256').update(`${seed} ${round}`).digest())
        text += alphabet[byte % alphabet.length]
    return text.slice(0, length)
  })
const lower = 'abcdefghijklmnopqrstuvwxyz0123456789'
const base64 = `ABCDEFGHIJKLMNOPQRSTUVWXYZ${lower}+/`
const base64url = `ABCDEFGHIJKLMNOPQRSTUVWXYZ${lower}-_`
/** Without what ends a word or a quoted text. */
const word = `${base64url}!#%()*,.:;<>@^~{}[]$+/?=`

const { privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const keyLines = privateKey.split('\n').slice(1, 3)

/** Each kind: how it stands in a text, and what must not come out of it again. */
const kinds: Readonly<Record<string, fc.Arbitrary<readonly [text: string, secret: string]>>> = {
  'bootstrap token': characters(lower, 22).map((text) => {
    const token = `${text.slice(0, 6)}.${text.slice(6)}`
    return [token, token.slice(7)]
  }),
  'bearer token': fc
    .tuple(characters(base64url, 24), fc.constantFrom('Bearer ', 'bearer ', 'Authorization: Bearer ', 'BEARER\t'))
    .map(([token, before]) => [before + token, token]),
  JWT: fc
    .tuple(characters(base64url, 30), characters(base64url, 60), characters(base64url, 43))
    .map(([head, body, signature]) => [`eyJ${head}.eyJ${body}.${signature}`, signature]),
  'private key': fc
    .constantFrom('\n', '\\n', '\r\n', '\nnode7 agent[3]: ')
    .map((newline) => [privateKey.trim().replaceAll('\n', newline), keyLines.at(-1) ?? '']),
  'named value': fc
    .tuple(
      characters(word, 16),
      fc.constantFrom(
        'clientSecret',
        'password',
        'token',
        'kubeconfigData',
        'caCertData',
        'AZURE_CLIENT_SECRET',
        'client-key-data',
        'api_key',
        'AccountKey',
        'certificate-key',
        'db_pass',
        'PGPASS',
        'MYPWD',
      ),
      fc.constantFrom<(name: string, value: string) => string>(
        (name, value) => `"${name}": "${value}"`,
        (name, value) => `"${name}":"${value}"`,
        (name, value) => `\\"${name}\\": \\"${value}\\"`,
        (name, value) => `${name}: '${value}'`,
        (name, value) => `${name}=${value} `,
        (name, value) => `${name} = "${value}"`,
        (name, value) => `${name}: ${value}\n`,
        (name, value) => `--${name} ${value} `,
        (name, value) => `--${name}=${value} `,
        (name, value) => `"${name}": ["${value}"]`,
        (name, value) => `"${name}": {"value": "${value}"}`,
      ),
    )
    .map(([value, name, form]) => [form(name, value), value]),
  'value of a short name': fc
    .tuple(
      fc.constantFrom(' ', '\n', '"', '&', '%26', '%3F', '\\n', ';', '_', '-'),
      fc.constantFrom('sig', 'SIG', 'auth', 'AUTH', 'pass', 'pwd', 'credential', 'credentials', 'Credentials'),
      fc.constantFrom('=', '%3D', '%253d', ' = ', ': ', ':', '="', '": "', '\\": \\"', '%22%3A%22'),
      // What is a number, a path or of letters alone may be prose.
      characters(base64url, 14).map((text) => `x${text}7`),
    )
    .map(([before, name, between, value]) => [`${before}${name}${between}${value}`, value]),
  'encoded query': fc
    .tuple(characters(base64url, 43), fc.integer({ min: 1, max: 3 }))
    .map(([signature, times]) => [
      Array.from({ length: times }).reduce<string>(
        (text) => encodeURIComponent(text),
        `https://x.blob.core.windows.net/b.tar.gz?sv=2024&x=${signature}`,
      ),
      signature,
    ]),
  'user of an URL': characters(base64url, 16).map((password) => [`https://user:${password}@host/path`, password]),
  'query of an URL': characters(base64url, 43).map((signature) => [
    `https://x.blob.core.windows.net/a/b.tar.gz?sv=2024&sp=r&sig=${signature}`,
    signature,
  ]),
  base64: characters(base64, 120).map((text) => [text, text.slice(20, 60)]),
  base64url: characters(base64url, 120).map((text) => [text, text.slice(20, 60)]),
  'a kubeconfig line': characters(base64, 400).map((text) => [`    client-key-data: ${text}==`, text.slice(100, 140)]),
}

/** Texts as parts have them, with what may confuse whoever looks for the end of a value. */
const around = fc.array(
  fc.constantFrom(
    ...['\n', ' ', '"', "'", '{', '}', '[', ']', '\\', ':', '=', ',', '-', '?', '://', '@', '.', '\t', '  '],
    ...[
      'node7',
      'systemd[1]',
      'Started',
      'token',
      'password',
      '"name": "x"',
      'https://host/path',
      '-----',
      'eyJ',
      'a.b',
    ],
  ),
  { maxLength: 12 },
)

describe.each(Object.keys(kinds))('%s', (kind) => {
  test('never comes out, wherever it is planted', () => {
    fc.assert(
      fc.property(around, kinds[kind]!, around, (before, [text, secret], after) => {
        const planted = `${before.join('')}${text}${after.join('')}`
        const { text: clean, hidden } = scrub(planted)
        expect(clean).not.toContain(secret)
        expect(hidden).toBeGreaterThan(0)
      }),
      { numRuns: 1000 },
    )
  })
})

test('lines without a secret stay word for word beside one that has it', () => {
  const lines = ['2026-11-30T14:55:06+0000 node7 systemd[1]: Started machines.target.', 'Wants=machines.target', '']
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(kinds)).chain((kind) => kinds[kind]!),
      ([text]) => {
        const clean = cleanOf([...lines, text.trim(), ...lines].join('\n')).split('\n')
        expect(clean.slice(0, 3)).toEqual(lines)
        expect(clean.slice(-3)).toEqual(lines)
      },
    ),
  )
})

test.each([
  ['one word', 'a'],
  ['names of secrets', 'token'],
  ['values without an end', 'token:{"'],
  ['marks of keys', '-----BEGIN PRIVATE KEY-----'],
  ['URLs', '://a?'],
  ['users of URLs', '://a:b'],
  ['dots', 'abcdef.'],
  ['short names', 'sig='],
  ['short names in brackets', 'auth:{'],
  ['encoded queries', '%3Fa'],
  ['encoded URLs', '%3A%2F%2F'],
])('a text of nothing but %s does not make it slow', (_name, piece) => {
  // A quadratic one would take minutes.
  const text = piece.repeat(300_000 / piece.length)
  expect(cleanOf(text).length).toBeGreaterThan(0)
})
