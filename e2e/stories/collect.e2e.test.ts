import { generateKeyPairSync } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { writeInventory } from '../lab/inventory.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type DroverEnd, drover } from '../support/drover.ts'
import { snapshotOf } from '../support/snapshot.ts'

/** Story: whoever must look deeper gets an archive of a host, and not one of the secrets that are everywhere on it. */

let lab: Lab
let rhel: LabHost
let acl: LabHost

/** What must not come out, by where it is planted. Each stands alone, so that what is found says what leaked. */
const secrets = {
  bootstrapToken: 'k3jq9z.x8w7v6u5t4s3r2q1',
  clientSecret: 'Zq7-client-secret-of-the-story',
  kubeconfigData: Buffer.from(`apiVersion: v1\nclusters: []\nusers: [{token: ${'Zq7-kubeconfig'.repeat(6)}}]`).toString(
    'base64',
  ),
  signature: 'Zq7%2Fsignature%2Bof%2Bthe%2Bstory%3D',
  urlPassword: 'Zq7-password-in-an-url',
  bearer: 'Zq7-bearer-of-the-story-0123456789',
  environment: 'Zq7-environment-of-a-unit',
  argument: 'Zq7-argument-of-a-process',
  firstBoot: 'Zq7-first-boot-of-the-story',
  journalPassword: 'Zq7-password-in-the-journal',
} as const
const jwt = `eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJzdG9yeSJ9.${'Zq7jwtsignature'.repeat(4)}`
const { privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const planted: readonly string[] = [
  ...Object.values(secrets),
  jwt.slice(-40),
  ...privateKey.split('\n').slice(1, 4),
].filter((text) => text !== '')

const signedUrl = `https://store.example.com/agents/agent.tar.gz?sv=2024&sig=${secrets.signature}`
const config = {
  azure: {
    bootstrapToken: { token: secrets.bootstrapToken },
    servicePrincipal: { clientSecret: secrets.clientSecret },
  },
  agent: { logLevel: 'debug', nodeName: 'rhel9-node', kubeconfigData: secrets.kubeconfigData },
  components: { kubernetes: '1.33.3' },
  bootstrap: { offlineArtifacts: { source: signedUrl } },
}

const journal = [
  `joining with ${secrets.bootstrapToken}`,
  `downloading ${signedUrl}`,
  `Authorization: Bearer ${secrets.bearer}`,
  `proxy http://user:${secrets.urlPassword}@proxy.example.com:3128/`,
  `{"level":"info","clientSecret":"${secrets.clientSecret}","msg":"loaded"}`,
  `password=${secrets.journalPassword} is refused`,
  `kubeconfigData: ${secrets.kubeconfigData}`,
  `exec credential ${jwt}`,
  ...privateKey.trim().split('\n'),
  'an ordinary line of the story',
]

const rolledBack = 'r1 alice@desk 2026-01-02T03:04:05Z rolled-back 2026-01-02T03:05:06Z upgrade to v0.4.0'

const plantIn = async (host: LabHost): Promise<void> => {
  await host.put('/etc/aks-flex-node/config.json', JSON.stringify(config, null, 2), '0600')
  await host.put(
    '/etc/aks-flex-node/agent-upgrade-signal.json',
    JSON.stringify({ operationName: 'op-1', downloadURL: signedUrl, failure: `get ${signedUrl}: refused` }, null, 2),
    '0600',
  )
  await host.put('/etc/aks-flex-node/first-boot/bootstrap.env', `AZURE_CLIENT_SECRET="${secrets.firstBoot}"\n`, '0600')
  await host.put(
    '/etc/systemd/system/aks-flex-node-agent.service.d/90-story.conf',
    `[Service]\nEnvironment=STORY_TOKEN=${secrets.environment}\n`,
  )
  await host.put('/var/lib/drover/rolled-back', `${rolledBack}\n`, '0600')
  // As the unit's own journal, and as lines of drover's.
  const unit = [
    ...['[Unit]', 'StartLimitIntervalSec=0', '[Service]', 'Type=exec'],
    'ExecStartPre=/bin/cat /root/story-journal',
    `ExecStart=/bin/sh -c 'sleep infinity' sh --token ${secrets.argument}`,
  ]
  await host.put('/root/story-journal', `${journal.join('\n')}\n`, '0600')
  await host.put('/etc/systemd/system/nftables-flush.service', `${unit.join('\n')}\n`)
  await host.must(
    'systemctl daemon-reload; systemctl start nftables-flush.service; logger -t drover -f /root/story-journal; journalctl --sync',
  )
}

beforeAll(async () => {
  lab = await openLab('collect', { yes: true })
  ;[rhel, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'old', worker: 'sleep' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', worker: 'sleep' }),
  ])
  await Promise.all([plantIn(rhel), plantIn(acl)])
})

afterAll(() => lab?.close())

const collect = (...words: readonly string[]): Promise<DroverEnd> =>
  drover(lab, ['collect', '-i', writeInventory(lab), ...words])

const filesOf = async (archive: string): Promise<Map<string, string>> => {
  const reader = extract()
  reader.end(gunzipSync(readFileSync(archive)))
  const files = new Map<string, string>()
  for await (const entry of reader) files.set(entry.header.name.replace(/^[^/]+\//, ''), await textOf(entry))
  return files
}

describe('a bundle of each host', () => {
  const out = (): string => join(lab.folder, 'bundles')

  test('holds what is asked for and none of the secrets, and the hosts are as they were', async () => {
    const before = await Promise.all([snapshotOf(rhel), snapshotOf(acl)])
    const end = await collect('--out', out(), '-o', 'json')
    expect(await Promise.all([snapshotOf(rhel), snapshotOf(acl)])).toEqual(before)
    expect(end.code, end.stdout + end.stderr).toBe(0)
    expect(readdirSync(out()).sort()).toEqual(['acl3.tar.gz', 'rhel9.tar.gz'])
    expect(lstatSync(out()).mode & 0o777).toBe(0o700)
    for (const name of ['rhel9', 'acl3']) {
      const archive = join(out(), `${name}.tar.gz`)
      expect(lstatSync(archive).mode & 0o777).toBe(0o600)
      for (const [file, text] of await filesOf(archive))
        for (const secret of planted) expect(text.includes(secret), `${secret} in ${file} of ${name}`).toBe(false)
    }
    for (const secret of planted) expect(end.stdout + end.stderr).not.toContain(secret)
  })

  test('what is ordinary is there, as it is on the host', async () => {
    const files = await filesOf(join(out(), 'rhel9.tar.gz'))
    const text = (file: string): string => files.get(file) ?? `(no ${file} among ${[...files.keys()].join(', ')})`
    expect(text('system/os-release.txt')).toContain('VERSION_ID=')
    expect(text('system/host.txt')).toMatch(/^== systemctl --version\nsystemd 252/m)
    expect(text('units/status.txt')).toContain('aks-flex-node-agent.service - AKS Flex Node Agent')
    expect(text('units/show.txt')).toContain('Id=systemd-nspawn@kube1.service')
    expect(text('units/cat.txt')).toContain('# /etc/systemd/system/aks-flex-node-agent.service\n')
    expect(text('units/cat.txt')).toContain('Environment=STORY_TOKEN=[redacted]')
    expect(text('layout/files.txt')).toMatch(
      /^lrwxrwxrwx 777 root:root .* '\/usr\/local\/lib\/aks-flex-node\/aks-flex-node-current' -> '\/usr\/local\/lib\/aks-flex-node\/aks-flex-node-blue'$/m,
    )
    expect(text('layout/files.txt')).toMatch(
      /^-rw------- 600 root:root .*'\/etc\/aks-flex-node\/first-boot\/bootstrap\.env'$/m,
    )
    expect(text('layout/digests.txt')).toContain(
      await rhel.must('sha256sum /usr/local/lib/aks-flex-node/aks-flex-node-blue'),
    )
    expect(text('state/config.txt')).toContain('"nodeName": "rhel9-node"')
    expect(text('state/config.txt')).toContain(
      '"source": "https://store.example.com/agents/agent.tar.gz" (and more, left out)',
    )
    expect(text('state/daemon-state.json')).toBe(`${await rhel.must('cat /etc/aks-flex-node/daemon-state.json')}\n`)
    expect(text('state/daemon-state-checksum.txt')).toMatch(/^they agree$/m)
    expect(JSON.parse(text('state/agent-upgrade-signal.json'))).toMatchObject({
      operationName: 'op-1',
      downloadURL: 'https://store.example.com/agents/agent.tar.gz',
    })
    expect(text('state/drover.txt')).toBe(`== /var/lib/drover/rolled-back\n${rolledBack}\n`)
    expect(text('state/activation-lock.txt')).toBe('lock=free\n')
    expect(text('journal/agent.log')).toContain('Started aks-flex-node-agent.service')
    for (const file of ['journal/hooks.log', 'journal/drover.log']) {
      expect(text(file)).toMatch(/an ordinary line of the story$/m)
      expect(text(file)).toMatch(/joining with \[redacted\]$/m)
      expect(text(file)).toMatch(/downloading https:\/\/store\.example\.com\/agents\/agent\.tar\.gz\?\[redacted\]$/m)
    }
    // In the order of time.
    const lines = text('journal/hooks.log').split('\n')
    const at = (words: string): number => lines.findIndex((line) => line.includes(words))
    expect(at('joining with')).toBeGreaterThanOrEqual(0)
    expect(at('joining with')).toBeLessThan(at('an ordinary line'))
    const index = text('index.txt')
    expect(index).toMatch(/^Collected from rhel9 by drover /)
    expect(index).toMatch(/^ {2}system\/selinux\.txt +.*: SELinux is off$/m)
  })

  test('a second one is not written over it', async () => {
    const was = readFileSync(join(out(), 'rhel9.tar.gz'))
    const again = await collect('-l', 'rhel9', '--out', out())
    expect(again.code).toBe(5)
    expect(again.stderr).toContain('[usage]')
    expect(readFileSync(join(out(), 'rhel9.tar.gz'))).toEqual(was)
  })
})
