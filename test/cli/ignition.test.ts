import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { ownScriptText } from '../../src/provision/bootstrap-script.ts'
import { ignitionFaults } from '../../src/provision/ignition-schema.ts'
import {
  agent,
  cluster,
  digest,
  fetching,
  fileIn,
  filesOf,
  guid,
  key,
  principal,
  provision,
  sha256,
  token,
} from './provisioned.ts'

const modeOf = (...path: readonly string[]): number => statSync(join(...path)).mode & 0o777
const outside = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'drover-out-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('each host gets a Butane config and Ignition that fits the schema, for nobody else to read', async () => {
  const ran = await provision('ignition', { hosts: { acl1: {}, acl2: {} }, words: ['--ssh-authorized-key', key] })
  expect(ran).toMatchObject({ code: 0, connects: [] })
  expect(ran.stdout.split('\n')).toEqual([
    "out/acl1.bu  Butane config of acl1, bootstrap script of drover's own",
    "out/acl1.ign  Ignition 3.4.0 of acl1, bootstrap script of drover's own",
    "out/acl2.bu  Butane config of acl2, bootstrap script of drover's own",
    "out/acl2.ign  Ignition 3.4.0 of acl2, bootstrap script of drover's own",
    '',
  ])
  expect(ran.stderr).toContain('as secret as what they were made of')
  expect(ran.stderr).toContain('needs an upgrade to the version of its pool')
  expect(ran.stderr).not.toContain('warn')
  expect(modeOf(ran.cwd, 'out')).toBe(0o700)
  for (const name of ['acl1.bu', 'acl1.ign', 'acl2.bu', 'acl2.ign']) expect(modeOf(ran.cwd, 'out', name)).toBe(0o600)
  const config = JSON.parse(fileIn(ran, 'acl2.ign'))
  expect(ignitionFaults(config)).toEqual([])
  expect(config.storage.directories).toEqual([{ path: '/etc/aks-flex-node/first-boot', mode: 0o700 }])
  expect(config.passwd).toEqual({ users: [{ name: 'core', sshAuthorizedKeys: [key] }] })
  const files = filesOf(ran)
  expect(files).toMatchObject({
    'bootstrap.sh': { path: '/etc/aks-flex-node/first-boot/bootstrap.sh', mode: 0o700 },
    'bootstrap.env': { path: '/etc/aks-flex-node/first-boot/bootstrap.env', mode: 0o600 },
    'base-config.json': { path: '/etc/aks-flex-node/first-boot/base-config.json', mode: 0o600, text: '{}\n' },
  })
  expect(Object.keys(files)).toHaveLength(3)
  expect(files['bootstrap.env']?.text.split('\n')).toEqual([
    'AKS_FLEX_NODE_AUTH="arc"',
    'AKS_FLEX_NODE_AGENT_URL="https://releases.test/v0.4.1/agent.tar.gz"',
    'AKS_FLEX_NODE_AGENT_VERSION="v0.4.1"',
    `AKS_FLEX_NODE_AGENT_SHA256="${digest}"`,
    'AKS_FLEX_NODE_FETCH_BOOTSTRAP_DATA="true"',
    `AKS_FLEX_NODE_CLUSTER_RESOURCE_ID="${cluster}"`,
    'AKS_FLEX_NODE_AGENT_POOL_NAME="edge"',
    '',
  ])
})

test('M9: the script is drover’s own and says so; a release’s is embedded byte for byte', async () => {
  const own = filesOf(await provision('ignition'))['bootstrap.sh']?.text ?? ''
  const [first, mark, ...rest] = own.split('\n')
  expect([first, mark]).toEqual([
    '#!/bin/sh',
    '# This is the bootstrap script of drover 1.2.3, and not that of a release of the agent.',
  ])
  expect([first, ...rest].join('\n')).toBe(ownScriptText())

  const bytes = Buffer.from([...Buffer.from('#!/bin/bash\r\necho \t"\\x" \n'), 0xff, 0xfe, 0])
  const files = { 'bootstrap.sh': bytes }
  const byOption = await provision('ignition', {
    words: ['--bootstrap-script', 'bootstrap.sh', '--bootstrap-script-sha256', sha256(bytes)],
    world: { files },
  })
  const byVariable = await provision('ignition', {
    vars: {
      agent,
      provision: {
        ...fetching,
        bootstrap_script: 'bootstrap.sh',
        bootstrap_script_sha256: sha256(bytes).toUpperCase(),
      },
    },
    world: { files },
  })
  for (const ran of [byOption, byVariable]) {
    expect(ran.stdout).toContain('bootstrap script of a release')
    expect(ran.stderr).not.toContain("drover's own")
    expect(filesOf(ran)['bootstrap.sh']).toMatchObject({ mode: 0o700, text: bytes.toString('latin1') })
    const { storage } = parse(fileIn(ran, 'acl1.bu'), { version: '1.1' })
    expect(storage.files[0].contents).toEqual({ source: `data:;base64,${bytes.toString('base64')}` })
  }
})

test('a service principal’s secret lies in a file of its own, and is shown nowhere', async () => {
  const ran = await provision('ignition', {
    vars: { agent, provision: { ...principal, sp_client_secret: { secret: { env: 'SP' } } } },
    words: ['-v', '-v', '--log-file', 'log', '-o', 'json'],
    world: { env: { SP: 'hush"\\hush' } },
  })
  expect(ran.code).toBe(0)
  expect(filesOf(ran)['sp-client-secret']).toEqual({
    path: '/etc/aks-flex-node/credentials/sp-client-secret',
    mode: 0o600,
    text: 'hush"\\hush',
  })
  const { storage } = JSON.parse(fileIn(ran, 'acl1.ign'))
  expect(storage.directories[1]).toEqual({ path: '/etc/aks-flex-node/credentials', mode: 0o700 })
  const env = filesOf(ran)['bootstrap.env']?.text
  expect(env).toContain('AKS_FLEX_NODE_SP_CLIENT_SECRET_FILE="/etc/aks-flex-node/credentials/sp-client-secret"\n')
  expect(env).not.toContain('hush')
  expect(ran.stdout + ran.stderr + readFileSync(join(ran.cwd, 'log'), 'utf8')).not.toContain('hush')
})

test.each([
  ['PEM', Buffer.from('-----BEGIN PRIVATE KEY-----\nx\n'), 'sp-client-certificate'],
  ['PFX', Buffer.from([0x30, 0x82, 0, 0xff]), 'sp-client-certificate.pfx'],
])('its certificate as %s has the name that the agent tells it by', async (_, bytes, name) => {
  const ran = await provision('ignition', {
    vars: { agent, provision: { ...principal, sp_client_certificate: 'cert' } },
    world: { files: { cert: bytes } },
  })
  expect(ran.code).toBe(0)
  const path = `/etc/aks-flex-node/credentials/${name}`
  expect(filesOf(ran)[name]).toEqual({ path, mode: 0o600, text: bytes.toString('latin1') })
  expect(filesOf(ran)['bootstrap.env']?.text).toContain(`AKS_FLEX_NODE_SP_CLIENT_CERTIFICATE_FILE="${path}"`)
})

test('a base config with secrets, what is laid over it, and a probe that no quoting must spoil', async () => {
  const probe = `$HOME \${X} %h %% "q" \\ it's`
  const base = {
    azure: { bootstrapToken: { token: { secret: { env: 'TOKEN' } } } },
    node: { kubelet: { clusterFQDN: 'api.test', caCertData: 'TEFC' } },
  }
  const ran = await provision('ignition', {
    vars: {
      agent,
      probe: { secret: { env: 'PROBE' } },
      provision: {
        cluster_resource_id: cluster,
        base_config: base,
        config_overrides: { node: { labels: { a: 'b"c\\d' } } },
        bootstrap_oci_image: '${probe}',
      },
    },
    world: { env: { TOKEN: token, PROBE: probe } },
  })
  expect(ran).toMatchObject({ code: 0 })
  const files = filesOf(ran)
  expect(JSON.parse(files['base-config.json']?.text ?? '')).toEqual({ ...base, azure: { bootstrapToken: { token } } })
  expect(files['bootstrap.env']?.text).toContain(
    'CONFIG_OVERRIDES="{\\"node\\":{\\"labels\\":{\\"a\\":\\"b\\\\\\"c\\\\\\\\d\\"}}}"\n',
  )
  expect(files['bootstrap.env']?.text).toContain(`OCI_IMAGE="$HOME \${X} %h %% \\"q\\" \\\\ it's"\n`)
  expect(ran.stdout + ran.stderr).not.toMatch(/0123456789abcdef|\$HOME/)
})

test('all other settings, and -e above the inventory', async () => {
  const more = {
    ...fetching,
    auth: 'msi',
    msi_client_id: guid,
    resource_manager_endpoint: 'https://management.test',
    authority_host: 'https://login.test',
    bootstrap_data_api_version: '2026-01-01',
    offline_artifacts_source: '/srv/a.tar',
    architecture: 'arm64',
  }
  const arm64 = { url: 'https://releases.test/arm64', sha256: 'cd'.repeat(32) }
  const ran = await provision('ignition', {
    vars: { agent, provision: fetching },
    words: ['-e', '@site.json', '-e', JSON.stringify({ agent: { ...agent, arm64 } })],
    world: { files: { 'site.json': JSON.stringify({ provision: more }) } },
  })
  expect(ran.code).toBe(0)
  const env = filesOf(ran)['bootstrap.env']?.text ?? ''
  for (const line of [
    'AUTH="msi"',
    `MSI_CLIENT_ID="${guid}"`,
    'RESOURCE_MANAGER_ENDPOINT="https://management.test"',
    'AUTHORITY_HOST="https://login.test"',
    'BOOTSTRAP_DATA_API_VERSION="2026-01-01"',
    'BOOTSTRAP_OFFLINE_ARTIFACTS_SOURCE="/srv/a.tar"',
    'AGENT_URL="https://releases.test/arm64"',
    `AGENT_SHA256="${'cd'.repeat(32)}"`,
  ])
    expect(env).toContain(`AKS_FLEX_NODE_${line}\n`)
})

test('M9: the user’s own Ignition is merged as it is', async () => {
  const ours =
    '{"ignition": {"version": "3.3.0"}, "passwd": {"users": [{"name": "ops", "sshAuthorizedKeys": ["k"]}]}}\n'
  const ran = await provision('ignition', { words: ['--merge', 'ours.ign'], world: { files: { 'ours.ign': ours } } })
  expect(ran.code).toBe(0)
  expect(ran.stderr).not.toContain('warn')
  const { ignition } = JSON.parse(fileIn(ran, 'acl1.ign'))
  expect(ignition.config.merge).toEqual([{ source: `data:;base64,${Buffer.from(ours).toString('base64')}` }])
})

test('keys come from options, files and variables, each once', async () => {
  const other = key.replace('alice', 'bob')
  const ran = await provision('ignition', {
    vars: { agent, provision: { ...fetching, ssh_authorized_keys: [key] } },
    words: ['--ssh-authorized-key', 'fleet.pub', '--ssh-authorized-key', key],
    world: { files: { 'fleet.pub': `# ours\n${other}\n` } },
  })
  expect(JSON.parse(fileIn(ran, 'acl1.ign')).passwd.users[0].sshAuthorizedKeys).toEqual([key, other])
})

test.each([
  ['M9: nobody can log in', {}, 'no SSH key is given'],
  ['with a merge that lets nobody in, either', { words: ['--merge', 'm'] }, 'no SSH key is given'],
  [
    'M9: the URL has a query',
    { vars: { agent: { ...agent, amd64: { url: 'https://r.test/a?sig=hush', sha256: digest } }, provision: fetching } },
    'has a query',
  ],
  [
    'and so has a secret one',
    {
      vars: {
        agent: { ...agent, amd64: { url: '${u}', sha256: digest } },
        u: { secret: { env: 'U' } },
        provision: fetching,
      },
    },
    'has a query',
  ],
  [
    'the agent is too old for a read-only /usr',
    { vars: { agent: { ...agent, version: 'v0.2.0', hostRootSince: 'v0.4.0' }, provision: fetching } },
    'cannot live on a host with a read-only /usr',
  ],
  [
    'more than Azure takes',
    { vars: { agent, provision: { ...fetching, base_config: { node: { labels: { a: 'x'.repeat(40_000) } } } } } },
    'larger than the 64 KiB',
  ],
  [
    'a key of config.json that nobody reads',
    { vars: { agent, provision: { ...fetching, base_config: { azure: { tenant: 'x' } } } } },
    'reads azure.tenant',
  ],
])('a warning: %s', async (_, asked, words) => {
  const world = { files: { m: '{"ignition": {"version": "3.4.0"}}' }, env: { U: 'https://r.test/a?sig=hush' } }
  const ran = await provision('ignition', { ...asked, world })
  expect(ran.code).toBe(0)
  expect(ran.stderr).toMatch(new RegExp(`^drover: warn: .*${words}.*\\((acl1|config\\.json)\\)$`, 'm'))
  expect(ran.stdout + ran.stderr).not.toContain('hush')
})

test('--output json says where the files are, and what was warned of', async () => {
  const ran = await provision('ignition', { words: ['-o', 'json'] })
  const told = JSON.parse(ran.stdout)
  expect(told).toMatchObject({
    schemaVersion: 1,
    directory: join(ran.cwd, 'out'),
    warnings: [expect.stringContaining('no SSH key')],
  })
  expect(told.files.map(({ file }: { file: string }) => file)).toEqual([
    join(ran.cwd, 'out/acl1.bu'),
    join(ran.cwd, 'out/acl1.ign'),
  ])
  expect(told.files[1]).toMatchObject({ host: 'acl1', sha256: sha256(fileIn(ran, 'acl1.ign')), script: { own: true } })
})

test('what is there is not written over, unless it is said', async () => {
  const out = outside()
  const first = await provision('ignition', { words: ['--out', out] })
  expect(first.code).toBe(0)
  const before = readFileSync(join(out, 'acl1.ign'), 'utf8')
  const vars = { agent: { ...agent, version: 'v0.4.2' }, provision: fetching }
  const again = await provision('ignition', { vars, words: ['--out', out] })
  expect(again).toMatchObject({ code: 5, stdout: '' })
  expect(again.stderr).toContain('is there already, and 1 more')
  expect(readFileSync(join(out, 'acl1.ign'), 'utf8')).toBe(before)
  const forced = await provision('ignition', { vars, words: ['--out', out, '--force'] })
  expect(forced.code).toBe(0)
  expect(readFileSync(join(out, 'acl1.ign'), 'utf8')).not.toBe(before)
  expect(readdirSync(out).sort()).toEqual(['acl1.bu', 'acl1.ign'])
  expect(modeOf(out, 'acl1.ign')).toBe(0o600)
})

test.each([0o750, 0o701, 0o755])('a directory of mode %o is refused, and nothing is written', async (mode) => {
  const out = outside()
  chmodSync(out, mode)
  const ran = await provision('ignition', { words: ['--out', out] })
  expect(ran).toMatchObject({ code: 5, stdout: '' })
  expect(ran.stderr).toContain('is open to others')
  expect(readdirSync(out)).toEqual([])
})

test('so is one that holds other things, and what is no directory', async () => {
  const files = { 'out/notes.txt': 'x' }
  const mixed = await provision('ignition', { words: ['--out', 'out'], world: { files } })
  expect(mixed.code).toBe(5)
  expect(mixed.stderr).toMatch(/is open to others|holds other files/)
  const out = outside()
  chmodSync(out, 0o700)
  await provision('cloud-init', { words: ['--out', out] })
  const other = await provision('ignition', { words: ['--out', out] })
  expect(other).toMatchObject({ code: 5, stdout: '' })
  expect(other.stderr).toContain('holds other files than .bu and .ign, such as acl1.user-data')
  const file = await provision('ignition', { words: ['--out', 'hosts.yaml'] })
  expect(file).toMatchObject({ code: 5, stdout: '' })
  expect(file.stderr).toContain('cannot be made or read')
})
