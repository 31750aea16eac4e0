import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ROOT } from '../../src/tasks/agent/paths.ts'
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
  base,
  CONFIG,
  calls,
  clean,
  configOf,
  expectCode,
  listing,
  modes,
  prepare,
  readOnlyLocal,
  runBootstrap,
  type Settings,
  signature,
  token,
  UNIT,
  versionAt,
  type Way,
} from '../support/bootstrapped.ts'

/** drover's own bootstrap script on hosts without an agent (domain.md 9.3, 11.15 to 11.25; rule M9, #383). */

const images = ['rhel9-like', 'ubuntu-like', 'acl-like'] as const
type Image = (typeof images)[number]

let lab: Lab
let source: AgentSource
let first: Archive
let second: Archive
const hosts = new Map<Image, LabHost>()
const hostOf = (image: Image): LabHost => hosts.get(image) as LabHost

beforeAll(async () => {
  lab = await openLab('bootstrap', { yes: true })
  await Promise.all(
    images.map(async (image) => hosts.set(image, await lab.boot({ name: `b-${image.replace(/-.*/, '')}`, image }))),
  )
  source = await openAgentSource(lab, hostOf('ubuntu-like'))
  first = await pack(lab, 'first', { [MEMBER]: tellingAgent('v1.0.0') })
  second = await pack(lab, 'second', { [MEMBER]: tellingAgent('v2.0.0') })
  for (const host of hosts.values()) await prepare(host, source)
})

afterAll(async () => {
  await source?.close()
  await lab?.close()
})

beforeEach(() => {
  source.requests.length = 0
  source.serve('/agent.tar.gz', first.bytes)
})

afterEach(async () => {
  await Promise.all([...hosts.values()].map(clean))
})

const bootstrap = (host: LabHost, settings: Settings = {}, way: Way = {}) =>
  runBootstrap(
    host,
    { AGENT_URL: `${source.urlOf('/agent.tar.gz')}?${signature}`, AGENT_SHA256: first.sha256, ...settings },
    way,
  )

/** Where it installs if nothing is special: only Azure Container Linux cannot write to /usr. */
const usual = (image: Image): string => (image === 'acl-like' ? ROOT : '/usr/local')
const writable = images.filter((image) => image !== 'acl-like')

describe.each(images)('on %s', (image) => {
  test('a host gets the agent, a configuration that root alone may read, and joins', async () => {
    const host = hostOf(image)
    const ran = await bootstrap(host)
    expectCode(ran, 0)
    const bin = `${usual(image)}/bin/aks-flex-node`
    const [version, ...rest] = await calls(host)
    // The candidate has been run beside its place before it takes it.
    expect(version).toMatch(new RegExp(`^${usual(image)}/bin/\\.aks-flex-node\\.\\w+ version$`))
    expect(rest).toEqual([`${bin} preflight --config ${CONFIG} --output text`, `${bin} start --config ${CONFIG}`])
    expect(await configOf(host)).toEqual({ ...base, agent: { nodeName: host.name } })
    expect(await modes(host, CONFIG, '/etc/aks-flex-node', bin)).toBe('600 root:root\n755 root:root\n755 root:root')
    expect(await listing(host, '/tmp', `${usual(image)}/bin`, '/etc/aks-flex-node')).not.toMatch(
      /tmp\.|\/\.aks|\/\.config/,
    )
    expect(await host.must('systemctl is-active "$1"', [UNIT])).toBe('active')
    expect(source.requests).toEqual([`/agent.tar.gz?${signature}`])
    expect(ran.output).not.toContain(signature)
    expect(ran.output).not.toContain(token)
  })

  test('11.17 a read-only /usr/local makes it install under the host root, with directories 0755 under any umask', async () => {
    const host = hostOf(image)
    await readOnlyLocal(host)
    const before = await listing(host, '/usr/local')
    expectCode(await bootstrap(host), 0)
    expect(await modes(host, '/opt/unbounded', ROOT, `${ROOT}/bin`)).toBe(Array(3).fill('755 root:root').join('\n'))
    expect(await listing(host, '/usr/local')).toBe(before)
    expect(await versionAt(host, ROOT)).toBe('Version: v1.0.0')
  })

  test('11.16 an /opt/unbounded of the host’s stays as it is, whether /usr/local can be written or not', async () => {
    const host = hostOf(image)
    for (const prepare of image === 'acl-like' ? [readOnlyLocal] : [async () => '', readOnlyLocal]) {
      await clean(host)
      await host.must(
        'mkdir -p /opt/unbounded/artifacts && chown 1:1 /opt/unbounded && chmod 0750 /opt/unbounded && touch /opt/unbounded/artifacts/a',
      )
      await prepare(host)
      expectCode(await bootstrap(host), 0)
      expect(await modes(host, '/opt/unbounded')).toBe('750 daemon:daemon')
      expect(await host.must('ls /opt/unbounded/artifacts')).toBe('a')
    }
  })

  test('11.18 a real host root is stayed in', async () => {
    const host = hostOf(image)
    await host.must('mkdir -p -m 0750 /opt/unbounded/agent/bin')
    expectCode(await bootstrap(host), 0)
    expect(await versionAt(host, ROOT)).toBe('Version: v1.0.0')
    expect(await host.must('ls /usr/local/bin/aks-flex-node 2>/dev/null || :')).toBe('')
    expect(await modes(host, `${ROOT}/bin`)).toBe('750 root:root')
  })

  test('11.19 temporary files on a file system without programs are no hindrance', async () => {
    const host = hostOf(image)
    await host.must('mount -t tmpfs -o noexec tmpfs /mnt')
    expectCode(await bootstrap(host, {}, { env: { TMPDIR: '/mnt' } }), 0)
    expect(await host.must('ls -A /mnt')).toBe('')
    expect((await calls(host)).every((call) => call.startsWith(`${usual(image)}/bin/`))).toBe(true)
  })

  test('11.21 after a reset that kept the layout the next agent replaces it', async () => {
    const host = hostOf(image)
    const kept = async (root: string): Promise<void> => {
      await host.must(
        `mkdir -p "$1/bin" "$1/lib/aks-flex-node" && cd "$1/lib/aks-flex-node" && echo old >aks-flex-node-blue && echo other >aks-flex-node-green &&
         ln -s "$PWD/aks-flex-node-blue" aks-flex-node-current && ln -s "$PWD/aks-flex-node-blue" aks-flex-node-last-good && echo mine >notes &&
         ln -s "$PWD/aks-flex-node-current" "$1/bin/aks-flex-node"`,
        [root],
      )
      expectCode(await bootstrap(host), 0)
      expect(await versionAt(host, root)).toBe('Version: v1.0.0')
      expect(await host.must('stat -c %F "$1/bin/aks-flex-node"; ls "$1/lib/aks-flex-node"', [root])).toBe(
        'regular file\nnotes',
      )
      await clean(host)
    }
    await kept(ROOT)
    if (image !== 'acl-like') await kept('/usr/local')
  })

  test('11.22 it is refused while the unit of an agent is installed, and then nothing is downloaded', async () => {
    const host = hostOf(image)
    await host.put(`/etc/systemd/system/${UNIT}`, '[Service]\nExecStart=/bin/true\n')
    const before = await listing(host, '/usr/local', '/opt', '/etc/aks-flex-node')
    const ran = await bootstrap(host)
    expectCode(ran, 78)
    expect(ran.output).toContain('an agent is installed')
    expect(source.requests).toEqual([])
    expect(await listing(host, '/usr/local', '/opt', '/etc/aks-flex-node')).toBe(before)
  })

  test('11.22 it is refused for any other link, or directory, at the place of the binary', async () => {
    const host = hostOf(image)
    const bin = `${ROOT}/bin/aks-flex-node`
    for (const [prepare, said] of [
      ['ln -s /bin/true "$1"', 'is a link that no agent made'],
      ['ln -s /usr/local/lib/aks-flex-node/aks-flex-node-current "$1"', 'is a link that no agent made'],
      ['mkdir "$1"', 'is no file'],
    ] as const) {
      await host.must(`rm -rf "$1" && mkdir -p ${ROOT}/bin && ${prepare}`, [bin])
      const before = await listing(host, ROOT)
      const ran = await bootstrap(host)
      expectCode(ran, 78)
      expect(ran.output).toContain(said)
      expect(await listing(host, ROOT)).toBe(before)
    }
  })

  test('11.22 it is put off while somebody holds the lock, and the agent can have the lock when it is started', async () => {
    const host = hostOf(image)
    const lock = '/run/aks-flex-node-agent-upgrade.lock'
    await host.must(
      `systemd-run --quiet --collect --unit=story-holder flock ${lock} sleep infinity; until ! flock -n ${lock} true; do sleep 0.05; done`,
    )
    const ran = await bootstrap(host)
    expectCode(ran, 1)
    expect(ran.output).toContain('by somebody else just now')
    expect(source.requests).toEqual([])
    await host.must('systemctl stop story-holder.service')
    source.serve('/locking.tar.gz', (await locking()).bytes)
    expectCode(
      await bootstrap(host, { AGENT_URL: source.urlOf('/locking.tar.gz'), AGENT_SHA256: (await locking()).sha256 }),
      0,
    )
    expect(await host.must(`cat ${TOLD}/lock; stat -c %a ${lock}`)).toBe('free\nfree\n600')
  })

  test('11.25 a secret file that is not root’s alone is refused', async () => {
    const host = hostOf(image)
    const file = '/root/lab/secrets/s'
    const principal = { AUTH: 'service-principal', SP_TENANT_ID: 't', SP_CLIENT_ID: 'c' }
    for (const [prepare, said] of [
      ['ln -s "$1.real" "$1"', 'is a symbolic link'],
      ['echo s >"$1" && chmod 0640 "$1"', 'may be read by others'],
      ['echo s >"$1" && chmod 0604 "$1"', 'may be read by others'],
      [': >"$1"', 'is empty'],
      ['mkdir "$1"', 'is no regular file'],
      [':', 'is no regular file'],
    ] as const) {
      await host.must(`rm -rf /root/lab/secrets; mkdir /root/lab/secrets; umask 077; echo s >"$1.real"; ${prepare}`, [
        file,
      ])
      for (const setting of ['SP_CLIENT_SECRET_FILE', 'SP_CLIENT_CERTIFICATE_FILE']) {
        const ran = await bootstrap(host, { ...principal, [setting]: file })
        expectCode(ran, 78)
        expect(ran.output).toContain(`${setting} ${said}`)
      }
    }
    expectCode(await bootstrap(host, { ...principal, SP_CLIENT_SECRET_FILE: 'root/lab/secrets/s.real' }), 78)
    expect(source.requests).toEqual([])
    expectCode(await bootstrap(host, { ...principal, SP_CLIENT_SECRET_FILE: `${file}.real` }), 0)
    expect(await configOf(host)).toMatchObject({
      azure: { servicePrincipal: { tenantId: 't', clientId: 'c', clientSecretFile: `${file}.real` } },
    })
  })

  test('a digest that differs is final, and nothing is unpacked', async () => {
    const host = hostOf(image)
    source.serve('/agent.tar.gz', second.bytes)
    const ran = await bootstrap(host)
    expectCode(ran, 78)
    expect(ran.output).not.toContain(signature)
    expect(await calls(host)).toEqual([])
    expect(await host.must('find /usr/local/bin /opt -name "*aks-flex-node*"')).toBe('')
  })

  test('a tool that is missing is waited for, save where none can be installed', async () => {
    const host = hostOf(image)
    await host.must(
      'mkdir -p /root/lab/tools && cd /root/lab/tools && for tool in /usr/bin/* /usr/sbin/*; do ln -sf "$tool" .; done; rm -f jq',
    )
    const ran = await bootstrap(host, {}, { path: '/root/lab/tools' })
    expectCode(ran, image === 'acl-like' ? 78 : 1)
    expect(ran.output).toContain('lacks jq')
  })
})

/** Says in `lock`, at its preflight and its start, whether it could have the lock. */
const locking = (): Promise<Archive> =>
  pack(lab, 'locking', {
    [MEMBER]: tellingAgent('v1.0.0').replace(
      '  case $1 in\n',
      `  case $1 in preflight | start) flock -n /run/aks-flex-node-agent-upgrade.lock echo free >>${TOLD}/lock || echo held >>${TOLD}/lock ;; esac\n  case $1 in\n`,
    ),
  })

describe.each(writable)('on %s, where /usr/local can be written', (image) => {
  test('11.15 it installs there, and /opt/unbounded does not come about', async () => {
    const host = hostOf(image)
    expectCode(await bootstrap(host), 0)
    expect(await versionAt(host, '/usr/local')).toBe('Version: v1.0.0')
    expect(await host.must('ls -d /opt/unbounded 2>/dev/null || :')).toBe('')
  })

  test('11.18 a host root that is a link to /usr/local stays one', async () => {
    const host = hostOf(image)
    await host.must('mkdir /opt/unbounded && ln -s /usr/local /opt/unbounded/agent')
    expectCode(await bootstrap(host), 0)
    expect((await calls(host)).at(-1)).toContain('/usr/local/bin/aks-flex-node start')
    expect(await host.must('readlink /opt/unbounded/agent')).toBe('/usr/local')
  })

  test('11.19 /usr/local/bin keeps its mode and owner', async () => {
    const host = hostOf(image)
    await host.must('chmod 2775 /usr/local/bin && chown root:staff /usr/local/bin')
    expectCode(await bootstrap(host), 0)
    expect(await modes(host, '/usr/local/bin', '/usr/local/bin/aks-flex-node')).toMatch(/^2775 root:staff\n755 root:/)
  })

  test('11.20 another --install-dir is ignored with a warning, and the same one is deprecated', async () => {
    const host = hostOf(image)
    for (const how of [{ args: ['--install-dir', '/srv/agent'] }, { args: ['--install-dir=/srv/agent'] }]) {
      const ran = await bootstrap(host, {}, how)
      expectCode(ran, 0)
      expect(ran.output).toMatch(/deprecated.*ignored/)
      await clean(host)
    }
    const other = await bootstrap(host, { INSTALL_DIR: '/srv/agent' })
    expectCode(other, 0)
    expect(other.output).toMatch(/deprecated.*ignored/)
    expect(await host.must('ls -d /srv/agent 2>/dev/null || :')).toBe('')
    await clean(host)
    const same = await bootstrap(host, { INSTALL_DIR: '/usr/local/bin' })
    expectCode(same, 0)
    expect(same.output).toMatch(/deprecated/)
    expect(same.output).not.toMatch(/ignored/)
  })
})
