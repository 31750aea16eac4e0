import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drover } from './harness.ts'
import { type Asked, agent, cluster, digest, fetching, guid, key, principal, provision, sha256 } from './provisioned.ts'

/** Everything that is refused before anything is written: what is said of it, and by which code. */

const secret = (name: string) => ({ secret: { env: name } })
const world = {
  env: { SP: 'hush', MULTI: 'hush\nhush', URL: 'https://r.test/a?sig=hush' },
  files: { cert: 'hush', key },
}
const given = (provision: object, more: object = {}): Asked => ({ vars: { agent, provision, ...more } })
const released = (agent: unknown): Asked => ({ vars: { agent, provision: fetching } })
const script = ['--bootstrap-script', 'key', '--bootstrap-script-sha256']

const cases: readonly (readonly [what: string, asked: Asked, says: string, code?: string])[] = [
  ['a variable that is not there', { vars: { provision: fetching } }, '${agent} is not defined', 'variable-undefined'],
  ['nothing to make config.json from', given({ auth: 'arc' }), 'provision: There is nothing to make config.json from.'],
  ['no mapping', given('arc' as never), 'provision: A mapping belongs here.'],
  ['a key that is not known', given({ ...fetching, atuh: 'arc' }), 'provision: "atuh" is not a key'],
  [
    'another way to authenticate',
    given({ ...fetching, auth: 'none' }),
    'provision.auth: The text "none" is not allowed',
  ],
  ['fetching without an identity', given({ ...fetching, auth: undefined }), 'provision.auth: It is missing'],
  [
    'fetching for no pool',
    given({ ...fetching, agent_pool_name: undefined }),
    'provision.agent_pool_name: It is missing',
  ],
  [
    'a client id that is none',
    given({ ...fetching, auth: 'msi', msi_client_id: 'x' }),
    'provision.msi_client_id: This is no',
  ],
  [
    'a client id of nobody',
    given({ ...fetching, msi_client_id: guid }),
    'provision.msi_client_id: Only a managed identity',
  ],
  [
    'a principal’s id without it',
    given({ ...fetching, sp_client_id: guid }),
    'provision.sp_client_id: Only a service principal',
  ],
  ['a principal without proof', given(principal), 'here is none'],
  [
    'a principal with two',
    given({ ...principal, sp_client_secret: secret('SP'), sp_client_certificate: 'cert' }),
    'here are two',
  ],
  ['its secret in the open', given({ ...principal, sp_client_secret: 'hush' }), 'it never stands in the file itself'],
  [
    'a secret that is not set',
    given({ ...principal, sp_client_secret: secret('NONE') }),
    '"NONE" of a secret is not set',
    'variable-undefined',
  ],
  [
    'a certificate that is not there',
    given({ ...principal, sp_client_certificate: 'none' }),
    'none cannot be read (ENOENT)',
  ],
  [
    'a cluster that is none',
    given({ ...fetching, cluster_resource_id: 'prod' }),
    'provision.cluster_resource_id: This is no ARM id',
  ],
  [
    'an endpoint with a path',
    given({ ...fetching, authority_host: 'https://x/y' }),
    'provision.authority_host: This is no address',
  ],
  [
    'a secret among the overrides',
    given({ ...fetching, config_overrides: { a: secret('SP') } }),
    'provision.config_overrides: A secret',
  ],
  [
    'a config.json that would not be valid',
    given({ auth: 'arc', cluster_resource_id: cluster, base_config: { node: { maxPods: 'hush' } } }),
    'config.json would not be valid: node.maxPods must be',
  ],
  [
    'a script without its digest',
    given({ ...fetching, bootstrap_script: 'key' }),
    'provision.bootstrap_script_sha256: It is missing',
  ],
  ['a digest without its script', given({ ...fetching, bootstrap_script_sha256: digest }), 'There is no script'],
  [
    'Shows 4: a value with a newline',
    given({ ...fetching, bootstrap_oci_image: '${m}' }, { m: secret('MULTI') }),
    'AKS_FLEX_NODE_BOOTSTRAP_OCI_IMAGE: The value holds a newline',
  ],
  [
    'Shows 4: one of a plain variable',
    given({ ...fetching, agent_pool_name: 'hush\nhush' }),
    'AKS_FLEX_NODE_AGENT_POOL_NAME: The value holds a newline',
  ],
  ['no release', released(null), 'agent: A release belongs here.'],
  [
    'M9: no digest',
    released({ version: 'v1.0.0', amd64: { url: 'https://r.test/a' } }),
    'agent.amd64.sha256: This is no SHA-256',
  ],
  [
    'a file of this machine',
    released({ version: 'v1.0.0', amd64: { file: 'a', sha256: digest } }),
    'agent.amd64.file: A file of this machine',
  ],
  [
    'a URL that is not https',
    released({ version: 'v1.0.0', amd64: { url: 'http://hush/a', sha256: digest } }),
    'agent.amd64.url: This is no URL',
  ],
  [
    'a URL with a blank in it',
    released({ version: 'v1.0.0', amd64: { url: 'https://r.test/hush a', sha256: digest } }),
    'agent.amd64.url: The URL holds a character that none has.',
  ],
  [
    'two architectures, and none said',
    released({ ...agent, arm64: agent.amd64 }),
    'provision.architecture: The release is for both',
  ],
  ['another architecture', given({ ...fetching, architecture: 'arm64' }), 'agent: The release has no binary for arm64'],
  ['M9: a script with another digest', { words: [...script, digest] }, `its SHA-256 is ${sha256(key)}`],
  ['half of it on the command line', { words: script.slice(0, 2) }, 'so it comes with its digest', 'usage'],
  [
    'a key that is none',
    { words: ['--ssh-authorized-key', 'cert'] },
    'The file cert holds something that is no public key',
  ],
  ['a key file that is not there', { words: ['--ssh-authorized-key', 'none.pub'] }, 'none.pub cannot be read (ENOENT)'],
  [
    'a private key in place of its path',
    { words: ['--ssh-authorized-key', '-----BEGIN OPENSSH PRIVATE KEY-----\nhush'] },
    'What is given in place of a file is no path.',
  ],
  [
    'a certificate in place of its path',
    given({ ...principal, sp_client_certificate: '-----BEGIN CERTIFICATE-----hush' }),
    'is no path.',
  ],
  ['a merge that is no Ignition', { words: ['--merge', 'cert'] }, 'cert: This is no Ignition'],
  [
    'a variable that nothing uses',
    { words: ['-e', 'provison=x'] },
    'Nothing in drover ignition uses -e provison',
    'usage',
  ],
  ['no such host', { words: ['-l', 'acl9'] }, 'acl9', 'pattern-no-match'],
]

for (const [what, asked, says, code = 'provision-invalid'] of cases)
  test(what, async () => {
    const ran = await provision('ignition', { ...asked, world })
    expect(ran).toMatchObject({ code: 5, stdout: '', connects: [] })
    expect(ran.stderr).toContain(says)
    expect(ran.stderr.match(/\[[a-z-]+\]$/gm)).toEqual([`[${code}]`])
    expect(ran.stderr).toMatch(/^ {2}fix: \S/m)
    expect(ran.stderr).not.toContain('hush')
    expect(existsSync(join(ran.cwd, 'out'))).toBe(false)
  })

test('everything at once, each thing once, with the hosts it is wrong on', async () => {
  const hosts = { a: {}, b: {}, c: { vars: { provision: { ...principal, sp_client_id: 'x', extra: 1 } } } }
  const ran = await provision('ignition', {
    ...given({ auth: 'arc' }),
    hosts,
    words: ['--merge', 'none', '-e', 'x=1'],
    world,
  })
  expect(ran).toMatchObject({ code: 5, stdout: '' })
  const heads = ran.stderr.split('\n').filter((line) => line.startsWith('drover: '))
  expect(heads).toEqual([
    expect.stringContaining('uses -e x.'),
    expect.stringContaining('none cannot be read (ENOENT)'),
    expect.stringMatching(/^drover: provision: There is nothing .* \(a, b\) \[provision-invalid\]$/),
    expect.stringMatching(/^drover: provision\.sp_client_id: .* \(c\) \[/),
    expect.stringMatching(/^drover: provision: "extra" is not a key .* \(c\) \[/),
    expect.stringMatching(/^drover: provision\.auth: A service principal .* here is none\. \(c\) \[/),
  ])
})

test('without --out nothing is done', async () => {
  const ran = await drover(['ignition', '-i', 'a,'])
  expect(ran).toMatchObject({ code: 5, stdout: '' })
  expect(ran.stderr).toContain('--out')
})
