import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ROOT } from '../../src/tasks/agent/paths.ts'
import { merged } from '../../src/tasks/config/render.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import {
  type AgentSource,
  type Archive,
  MEMBER,
  openAgentSource,
  pack,
  TOLD,
  tellingAgent,
} from '../support/bootstrap.ts'
import {
  BASE_FILE,
  CONFIG,
  calls,
  clean,
  configOf,
  expectCode,
  listing,
  modes,
  prepare,
  runBootstrap,
  type Settings,
  signature,
  token,
  UNIT,
  usualPath,
  type Way,
} from '../support/bootstrapped.ts'

/** What the bootstrap script makes of its settings, and how it ends where it cannot go on (domain.md 9.3, #383). */

let lab: Lab
let host: LabHost
let source: AgentSource
let archive: Archive

beforeAll(async () => {
  lab = await openLab('bootstrap-config', { yes: true })
  host = await lab.boot({ name: 'node-a', image: 'rhel9-like' })
  source = await openAgentSource(lab, host)
  archive = await pack(lab, 'good', { [MEMBER]: tellingAgent('v1.0.0') })
})
afterAll(async () => {
  await source?.close()
  await lab?.close()
})
beforeEach(async () => {
  await prepare(host, source)
  source.requests.length = 0
  source.serve('/agent.tar.gz', archive.bytes)
  await host.must(`mkdir -p ${TOLD}`)
})
afterEach(() => clean(host))

const bootstrap = (settings: Settings = {}, way: Way = {}) =>
  runBootstrap(
    host,
    { AGENT_URL: `${source.urlOf('/agent.tar.gz')}?${signature}`, AGENT_SHA256: archive.sha256, ...settings },
    way,
  )
const json = JSON.stringify
const cluster = '/subscriptions/x/resourceGroups/r/providers/Microsoft.ContainerService/managedClusters/c'
/** All that a hostile text can be made of. */
const probe = '$HOME ${X} %h %% "q" \\ it\'s $(id) `id` é #'

describe('the configuration', () => {
  test('is laid in layers: base, target, what was fetched, overrides, the target again, then the source', async () => {
    const layers = {
      base: {
        azure: { targetCluster: { resourceId: 'base', location: 'base' }, cloud: 'base' },
        agent: { logLevel: 'base' },
        node: { taints: ['a', 'b'], labels: { base: '1' } },
        networking: { cniVersion: '1', dnsServiceIP: '10.0.0.10' },
        components: { containerd: '2', runc: '1', kubernetes: '1.33.3' },
        bootstrap: { ociImage: 'base' },
      },
      fetched: {
        azure: { targetCluster: { resourceId: 'fetched' }, cloud: 'fetched' },
        agent: { logLevel: 'fetched', logDir: '/f' },
        node: { taints: ['c'], labels: { fetched: '2' } },
      },
      overrides: {
        azure: { targetCluster: { resourceId: 'override' }, targetAgentPoolName: 'override' },
        agent: { logLevel: probe },
        bootstrap: { ociImage: 'override' },
        npd: null,
      },
    }
    await host.put(BASE_FILE, json(layers.base), '0600')
    await host.put(`${TOLD}/data`, json(layers.fetched))
    const offline = `oci://registry.example/artifacts?${signature}`
    const ran = await bootstrap({
      AUTH: 'msi',
      MSI_CLIENT_ID: 'client',
      FETCH_BOOTSTRAP_DATA: 'true',
      CLUSTER_RESOURCE_ID: cluster,
      AGENT_POOL_NAME: 'pool',
      RESOURCE_MANAGER_ENDPOINT: 'https://management.example',
      AUTHORITY_HOST: 'https://login.example',
      BOOTSTRAP_DATA_API_VERSION: 'v9',
      CONFIG_OVERRIDES: json(layers.overrides),
      BOOTSTRAP_OCI_IMAGE: 'image',
      BOOTSTRAP_OFFLINE_ARTIFACTS_SOURCE: offline,
    })
    expectCode(ran, 0)
    const target = {
      azure: {
        targetCluster: { resourceId: cluster },
        targetAgentPoolName: 'pool',
        resourceManagerEndpoint: 'https://management.example',
      },
    }
    const last = {
      bootstrap: { ociImage: 'image', offlineArtifacts: { source: offline } },
      agent: { nodeName: 'node-a' },
      azure: { managedIdentity: { clientId: 'client' } },
    }
    const wanted = [layers.base, target, layers.fetched, layers.overrides, target, last].reduce<unknown>(
      merged,
      {},
    ) as typeof layers.base
    expect(await configOf(host)).toEqual({
      ...wanted,
      components: { kubernetes: '1.33.3' },
      networking: { dnsServiceIP: '10.0.0.10' },
    })
    expect((await calls(host))[1]).toMatch(
      new RegExp(
        `^/usr/local/bin/aks-flex-node fetch-bootstrap-data --cluster-resource-id ${cluster} --agent-pool-name pool --auth msi --output \\S+ --msi-client-id client --resource-manager-endpoint https://management.example --authority-host https://login.example --api-version v9$`,
      ),
    )
    expect(ran.output).not.toContain(signature)
  })

  test.each<[string, Settings, Record<string, unknown>]>([
    ['arc', { AUTH: 'arc' }, { arc: { enabled: true } }],
    ['the system’s identity', { AUTH: 'msi' }, { managedIdentity: {} }],
    [
      'a service principal',
      { AUTH: 'service-principal', SP_TENANT_ID: 't', SP_CLIENT_ID: 'c', SP_CLIENT_SECRET: probe },
      { servicePrincipal: { tenantId: 't', clientId: 'c', clientSecret: probe } },
    ],
    [
      'none, which keeps what there is',
      {},
      { arc: { enabled: false }, managedIdentity: { clientId: 'x' }, servicePrincipal: { tenantId: 'x' } },
    ],
  ])('has the section for %s and no other identity', async (_, settings, azure) => {
    const all = { arc: { enabled: false }, managedIdentity: { clientId: 'x' }, servicePrincipal: { tenantId: 'x' } }
    await host.put(
      BASE_FILE,
      json({ azure: { ...all, bootstrapToken: { token } }, agent: { nodeName: 'mine' } }),
      '0600',
    )
    const ran = await bootstrap(settings)
    expectCode(ran, 0)
    expect(await configOf(host)).toEqual({
      azure: { ...azure, bootstrapToken: { token } },
      agent: { nodeName: 'mine' },
    })
    expect(ran.output).not.toContain(probe)
  })

  test('takes kubeconfigs and a certificate from protected files, and fetches with the certificate', async () => {
    const folder = '/root/lab/secrets'
    await host.put(`${folder}/agent`, 'agent: config\n', '0600')
    await host.put(`${folder}/kubelet`, 'kubelet: config\n', '0600')
    await host.put(`${folder}/cert`, 'no PEM', '0600')
    await host.put(`${TOLD}/data`, '{}')
    const settings = {
      AUTH: 'service-principal',
      SP_TENANT_ID: 't',
      SP_CLIENT_ID: 'c',
      SP_CLIENT_CERTIFICATE_FILE: `${folder}/cert`,
      FETCH_BOOTSTRAP_DATA: 'yes',
      BASE_CONFIG_FILE: '',
      CLUSTER_RESOURCE_ID: cluster,
      AGENT_POOL_NAME: 'pool',
      AGENT_KUBECONFIG: `${folder}/agent`,
      KUBELET_KUBECONFIG: `${folder}/kubelet`,
    }
    expectCode(await bootstrap(settings), 78)
    await host.put(`${folder}/cert`, '-----BEGIN CERTIFICATE-----\n', '0600')
    expectCode(await bootstrap(settings), 0)
    expect(await configOf(host)).toMatchObject({
      azure: { servicePrincipal: { clientSecretFile: `${folder}/cert` } },
      agent: { kubeconfigData: 'agent: config' },
      node: { kubelet: { kubeconfigData: 'kubelet: config' } },
    })
    expect((await calls(host))[1]).toContain(`--sp-client-certificate-file ${folder}/cert`)
  })

  test('replaces an older one whole, and never follows a link', async () => {
    await host.put(CONFIG, 'older', '0644')
    expectCode(await bootstrap(), 0)
    expect(await modes(host, CONFIG)).toBe('600 root:root')
    await clean(host)
    await host.must(`mkdir -p /etc/aks-flex-node && echo victim >/root/lab/victim && ln -s /root/lab/victim ${CONFIG}`)
    expectCode(await bootstrap(), 78)
    expect(await host.must('cat /root/lab/victim')).toBe('victim')
  })
})

describe('secrets', () => {
  test('are in no output, no argument and no environment of what is started', async () => {
    const secret = 'cl1entS3cret'
    // Every program that is looked up in PATH says how it was called.
    await host.must(
      `mkdir -p /root/lab/tools && cd /root/lab/tools && for tool in curl jq tar sha256sum mktemp tr stat sync mv timeout; do
         printf '#!/bin/sh\\n{ echo "%s $*"; env; } >>${TOLD}/programs\\nPATH=${usualPath} exec %s "$@"\\n' "$tool" "$tool" >"$tool"; chmod 755 "$tool"
       done`,
    )
    await host.put(`${TOLD}/data`, '{}')
    const ran = await bootstrap(
      {
        AUTH: 'service-principal',
        SP_TENANT_ID: 't',
        SP_CLIENT_ID: 'c',
        SP_CLIENT_SECRET: secret,
        FETCH_BOOTSTRAP_DATA: '1',
        CLUSTER_RESOURCE_ID: cluster,
        AGENT_POOL_NAME: 'pool',
        CONFIG_OVERRIDES: json({ npd: { version: secret } }),
        BOOTSTRAP_OCI_IMAGE: `image?${signature}`,
      },
      { path: `/root/lab/tools:${usualPath}` },
    )
    expectCode(ran, 0)
    expect(await host.must(`cat ${TOLD}/secret ${TOLD}/secret-mode`)).toBe(`${secret}600`)
    const seen = await host.must(`cat ${TOLD}/programs ${TOLD}/calls ${TOLD}/*.env`)
    expect(seen).toContain('curl --disable')
    for (const text of [ran.output, seen]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(signature)
      expect(text).not.toContain(token)
    }
    expect(seen).not.toContain('AKS_FLEX_NODE_')
    expect(await host.must('ls -A /tmp')).not.toContain('tmp.')
  })
})

describe('what no retry can put right ends with 78, before anything is downloaded or changed', () => {
  const principal = { AUTH: 'service-principal', SP_TENANT_ID: 't', SP_CLIENT_ID: 'c' }
  test.each<[string, Settings, Way?]>([
    ['no digest', { AGENT_SHA256: '' }],
    ['a digest too short', { AGENT_SHA256: 'abc' }],
    ['a digest of other letters', { AGENT_SHA256: 'g'.repeat(64) }],
    ['neither URL nor version', { AGENT_URL: '' }],
    ['http', { AGENT_URL: 'http://host/agent' }],
    ['a file', { AGENT_URL: 'file:///etc/shadow' }],
    ['a blank in the URL', { AGENT_URL: 'https://host/a b' }],
    ['a line of curl’s configuration in the URL', { AGENT_URL: 'https://host/"\noutput = "/etc/passwd' }],
    ['a version that is a path', { AGENT_VERSION: '../../x' }],
    ['an unknown way to authenticate', { AUTH: 'password' }],
    ['a service principal without a secret', principal],
    ['two secrets', { ...principal, SP_CLIENT_SECRET: 's', SP_CLIENT_SECRET_FILE: '/s' }],
    ['a service principal without a tenant', { ...principal, SP_TENANT_ID: '', SP_CLIENT_SECRET: 's' }],
    ['a word that is neither yes nor no', { FETCH_BOOTSTRAP_DATA: 'perhaps' }],
    ['fetching without a way to authenticate', { FETCH_BOOTSTRAP_DATA: 'yes' }],
    ['nothing to configure from', { BASE_CONFIG_FILE: '' }],
    ['a base that is not there', { BASE_CONFIG_FILE: '/nowhere' }],
    ['a base that is not absolute', { BASE_CONFIG_FILE: 'base.json' }],
    ['one kubeconfig', { AGENT_KUBECONFIG: '/k' }],
    ['a path of the configuration that is not absolute', { CONFIG_PATH: 'config.json' }],
    ['a path of the configuration with dots', { CONFIG_PATH: '/etc/../x' }],
    ['an argument it does not know', {}, { args: ['--token', token] }],
  ])('%s', async (_, settings, way = {}) => {
    const before = await listing(host, '/usr/local', '/opt', '/etc/aks-flex-node')
    const ran = await bootstrap(settings, way)
    expectCode(ran, 78)
    expect(ran.output).toContain('This is not tried again')
    expect(ran.output).not.toContain(token)
    expect(source.requests).toEqual([])
    expect(await listing(host, '/usr/local', '/opt', '/etc/aks-flex-node')).toBe(before)
  })

  test('another architecture', async () => {
    await host.must(
      'mkdir -p /root/lab/tools && printf "#!/bin/sh\\necho riscv64\\n" >/root/lab/tools/uname && chmod 755 /root/lab/tools/uname',
    )
    const ran = await bootstrap({}, { path: `/root/lab/tools:${usualPath}` })
    expectCode(ran, 78)
    expect(ran.output).toContain('no agent for riscv64')
  })

  test('any other user than root', async () => {
    const { code, stderr } = await host.sh(
      'cp /root/lab/bootstrap.sh /tmp/b && setpriv --reuid 65534 bash /tmp/b; code=$?; rm /tmp/b; exit "$code"',
    )
    expect([code, stderr]).toEqual([78, expect.stringContaining('only root')])
  })
})

describe('what the download brings', () => {
  const served = async (name: string, members: Record<string, string>): Promise<Settings> => {
    const { bytes, sha256 } = await pack(lab, name, members)
    source.serve(`/${name}`, bytes)
    return { AGENT_URL: source.urlOf(`/${name}`), AGENT_SHA256: sha256 }
  }

  test.each([
    ['two members', { [MEMBER]: tellingAgent('v1'), 'install.sh': 'never' }],
    ['another member', { agent: tellingAgent('v1') }],
    ['an empty member', { [MEMBER]: '' }],
  ])('with %s is refused for good', async (name, members) => {
    expectCode(await bootstrap(await served(name.replaceAll(' ', '-'), members)), 78)
    expect(await calls(host)).toEqual([])
    expect(await listing(host, '/usr/local/bin', '/opt')).not.toContain('aks-flex-node')
  })

  test('that cannot run there, for the file system forbids it, is refused for good and does not stay', async () => {
    await host.must(`mount -t tmpfs -o noexec,mode=755 tmpfs /opt && mkdir -p ${ROOT}`)
    const ran = await bootstrap()
    expectCode(ran, 78)
    expect(ran.output).toContain('mounted noexec')
    expect(await host.must(`ls -A ${ROOT}/bin`)).toBe('')
  })

  test('that does not say its version leaves the binary that was there', async () => {
    expectCode(await bootstrap(), 0)
    await host.must(`rm -f "/etc/systemd/system/${UNIT}"`)
    const bad = await served('bad', { [MEMBER]: '#!/bin/sh\nexit 3\n' })
    expectCode(await bootstrap(bad), 1)
    expect(await host.must('/usr/local/bin/aks-flex-node version | sed -n 2p; ls -A /usr/local/bin')).toBe(
      'Version: v1.0.0\naks-flex-node',
    )
  })

  test('is asked for by the names in the URL', async () => {
    source.serve(`/linux/amd64/v1.0.0/${MEMBER}.tar.gz`, archive.bytes)
    const AGENT_URL = source.urlOf('/{{OS}}/{{ARCH}}/{{VERSION}}/{{ARCHIVE_NAME}}?a={{ARCH}}')
    expectCode(await bootstrap({ AGENT_URL, AGENT_VERSION: 'v1.0.0', AGENT_SHA256: archive.sha256.toUpperCase() }), 0)
    expect(source.requests).toEqual([`/linux/amd64/v1.0.0/${MEMBER}.tar.gz?a=amd64`])
    await clean(host)
    expectCode(await bootstrap({ AGENT_URL }), 78)
  })
})

describe('what may pass ends with 1', () => {
  test.each([500, 404, 403] as const)('a server that answers %i', async (status) => {
    source.serve('/agent.tar.gz', status)
    const ran = await bootstrap()
    expectCode(ran, 1)
    expect(ran.output).toContain(`HTTP ${status}`)
    expect(ran.output).not.toContain(signature)
    expect(source.requests).toHaveLength(status === 500 ? 4 : 1)
  })

  test('a server that nobody vouches for', async () => {
    expectCode(await bootstrap({}, { env: { CURL_CA_BUNDLE: '/etc/ssl/certs/ca-certificates.crt' } }), 1)
  })

  test.each(['preflight', 'start'])('a %s of the agent’s that fails', async (command) => {
    await host.must(`mkdir -p ${TOLD} && echo 1 >${TOLD}/${command}-exit`)
    expectCode(await bootstrap(), 1)
    expect((await calls(host)).at(-1)).toContain(command)
  })

  test('a start that says it went well and left no unit, as one does that was told to stop', async () => {
    await host.must(`mkdir -p ${TOLD} && echo 0 >${TOLD}/start-exit`)
    const ran = await bootstrap()
    expectCode(ran, 1)
    expect(ran.output).toContain('before it was installed')
  })

  test('data to join with that cannot be had, or are none', async () => {
    const settings = { AUTH: 'arc', FETCH_BOOTSTRAP_DATA: 'y', CLUSTER_RESOURCE_ID: cluster, AGENT_POOL_NAME: 'pool' }
    await host.must(`echo 1 >${TOLD}/fetch-bootstrap-data-exit`)
    expectCode(await bootstrap(settings), 1)
    await host.must(`rm ${TOLD}/fetch-bootstrap-data-exit; echo '[]' >${TOLD}/data`)
    expectCode(await bootstrap(settings), 1)
    expect(await host.must(`ls ${CONFIG} 2>/dev/null || :`)).toBe('')
  })

  test('a host that has no name yet', async () => {
    await host.must(
      'mkdir -p /root/lab/tools && printf "#!/bin/sh\\n[ \\"\\$1\\" = -n ] && echo localhost || exec /usr/bin/uname \\"\\$@\\"\\n" >/root/lab/tools/uname && chmod 755 /root/lab/tools/uname',
    )
    const ran = await bootstrap({}, { path: `/root/lab/tools:${usualPath}` })
    expectCode(ran, 1)
    expect(ran.output).toContain('no name of its own')
  })
})

test('a configuration or overrides that are no mapping end with 78 and leave no configuration', async () => {
  for (const text of ['[]', 'nonsense', '{}{}', '']) {
    await host.put(BASE_FILE, text, '0600')
    expectCode(await bootstrap(), 78)
  }
  await host.put(BASE_FILE, '{"agent": "text"}', '0600')
  expectCode(await bootstrap(), 78)
  await host.put(BASE_FILE, '{}', '0600')
  expectCode(await bootstrap({ CONFIG_OVERRIDES: '"text"' }), 78)
  expect(await host.must(`ls -A /etc/aks-flex-node 2>/dev/null || :`)).toBe('')
})
