// The stand-in agent and the layouts that hosts are provisioned with: what the stories about switching an agent rely on.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultsOf, layoutOf } from '../support/agent-layout.ts'
import { type AgentBuild, buildAgent } from './agent/build.ts'
import { AGENT_UNIT, type LabHost } from './host.ts'
import { type Lab, openLab } from './lab.ts'
import { until } from './wait.ts'

const root = '/opt/unbounded/agent'
const lock = '/run/aks-flex-node-agent-upgrade.lock'
const known = '/etc/aks-flex-node/host-root-agents'

let lab: Lab
let legacy: LabHost
let linked: LabHost
let moved: LabHost
let plain: LabHost

beforeAll(async () => {
  lab = await openLab('lab-agent')
  ;[legacy, linked, moved, plain] = await Promise.all([
    lab.boot({ name: 'legacy', image: 'rhel9-like', agent: 'old', worker: 'sleep' }),
    lab.boot({ name: 'linked', image: 'rhel9-like', agent: 'new', layout: 'linked', worker: 'sleep' }),
    lab.boot({ name: 'moved', image: 'ubuntu-like', agent: 'new', layout: 'moved', worker: 'sleep' }),
    lab.boot({ name: 'plain', image: 'ubuntu-like', agent: 'plain', layout: 'plain' }),
  ])
})

afterAll(() => lab?.close())

const linkText = (host: LabHost): Promise<string> =>
  host.must('readlink "$1" || stat -c %F "$1" 2>/dev/null || :', [root])

/** The lines that the running agent has said. */
const saidSince = (host: LabHost, restart = 'systemctl restart "$1"'): Promise<string> =>
  host.must(
    `${restart}; until grep -q . /run/lab-agent-ready 2>/dev/null; do sleep 0.1; done
     journalctl --sync; journalctl -q -o cat "_SYSTEMD_INVOCATION_ID=$(systemctl show -p InvocationID --value "$1")"`,
    [AGENT_UNIT, lock],
  )

const put = async (host: LabHost, name: string, build: AgentBuild): Promise<string> => {
  const path = `/srv/${name}`
  await host.put(path, readFileSync(await buildAgent(build)), '0755')
  return path
}

test('each layout is a whole one, with the release it is made for', async () => {
  const seen = await Promise.all([legacy, linked, moved].map(layoutOf))
  expect(seen.map(faultsOf)).toEqual([[], [], []])
  expect(seen.map(({ version, current, lastGood }) => [version, current, lastGood])).toEqual([
    ['v0.2.0', 'blue', 'blue'],
    ['v0.3.0', 'blue', 'blue'],
    ['v0.3.0', 'blue', 'blue'],
  ])
  expect(await Promise.all([legacy, linked, moved, plain].map(linkText))).toEqual(['', '/usr/local', 'directory', ''])
  expect(await moved.must('ls /usr/local/bin /usr/local/lib | grep -c aks || :')).toBe('0')
  expect(await plain.must('readlink "/proc/$(systemctl show -p MainPID --value "$1")/exe"', [AGENT_UNIT])).toBe(
    '/usr/local/bin/aks-flex-node',
  )
  expect(
    await plain.must('ls /usr/local/lib | grep aks || :; systemctl show -p OnFailure --value "$1"', [AGENT_UNIT]),
  ).toBe('')
})

describe('the host root', () => {
  test('a release that knows it links it, and records itself', async () => {
    const path = await put(legacy, 'candidate', { version: 'v0.4.0' })
    await legacy.must(
      'l=/usr/local/lib/aks-flex-node/aks-flex-node; cp "$1" $l-green && ln -sfn $l-green $l-current && systemctl restart "$2"',
      [path, AGENT_UNIT],
    )
    await until('the link', 10_000, async () => ((await linkText(legacy)) === '' ? undefined : true))
    expect(await linkText(legacy)).toBe('/usr/local')
    await until('the record', 10_000, async () => (await legacy.sh('[ -s "$1" ]', [known])).code === 0 || undefined)
    expect(await legacy.must('stat -c %a /opt/unbounded "$1"; cat "$1"', [known])).toBe(
      `755\n600\n${await legacy.must('sha256sum <"$1" | cut -d" " -f1', [path])}`,
    )
    // The last-good one is the release that does not know it: nothing would be moved.
    expect(await legacy.must('journalctl -q -o cat -u "$1"', [AGENT_UNIT])).not.toContain('would move')
  })

  test('would be moved once both slots know it, unless somebody holds the lock', async () => {
    expect(await saidSince(linked)).toContain('would move the host root')
    const held = await saidSince(linked, 'flock "$2" sh -c \'systemctl restart "$1"; sleep 1\' sh "$1"')
    expect(held).toContain('an activation holds the lock')
  })

  test('moved, and a release from before it: it fails, and leaves nothing under /usr/local', async () => {
    const path = await put(moved, 'older', { version: 'v0.2.0', knows: 'slots' })
    const ran = await moved.sh('"$1" agent --config /etc/aks-flex-node/config.json', [path])
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('no such file') })
    expect(await moved.must('ls /usr/local/bin /usr/local/lib | grep -c aks || :')).toBe('0')
  })
})

test('the candidates fail as they are named', async () => {
  const run = async (build: Omit<AgentBuild, 'version'>, command: string) => {
    const path = await put(plain, build.behaviour ?? build.preflight ?? 'good', { version: 'v9', ...build })
    return plain.sh(`timeout 13 "$1" ${command}`, [path])
  }
  const [exits, dies, hangs, mute] = await Promise.all([
    run({ behaviour: 'exits-42' }, 'agent --config x'),
    run({ behaviour: 'dies' }, 'agent --config x'),
    run({ behaviour: 'hangs' }, 'agent --config x'),
    run({ behaviour: 'hangs-in-version' }, 'version'),
  ])
  expect([exits.code, dies.code, hangs.code, mute.code]).toEqual([42, 1, 124, 124])
  expect(dies.stderr).toContain('out of memory')
  const preflight = 'preflight --output json --config /etc/aks-flex-node/config.json'
  const fails = await run({ preflight: 'fails' }, preflight)
  expect([fails.code, JSON.parse(fails.stdout).status]).toEqual([1, 'failed'])
  expect(await run({ preflight: 'silent' }, preflight)).toMatchObject({ code: 1, stdout: '' })
})

test('it joins: a state with its checksum, and the unit enabled and running', async () => {
  const said = await linked.must(
    `systemctl disable --now --quiet "$1"; rm -f /etc/aks-flex-node/daemon-state.json*
     /usr/local/bin/aks-flex-node start --config /etc/aks-flex-node/config.json
     sha256sum /etc/aks-flex-node/daemon-state.json | cut -c-64 | tr -d '\\n' | cmp - /etc/aks-flex-node/daemon-state.json.sha256
     stat -c %a /etc/aks-flex-node/daemon-state.json; systemctl is-enabled "$1"; systemctl is-active "$1"`,
    [AGENT_UNIT],
  )
  expect(said.split('\n')).toEqual(['AKS Flex Node agent service started successfully.', '600', 'enabled', 'active'])
})
