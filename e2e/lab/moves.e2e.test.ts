// The stand-in agent that moves its files by itself, and its hooks: what the stories about migration rely on.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hookTexts, reconcile } from '../support/hooks.ts'
import {
  faultsOfMoved,
  LEGACY,
  ROOT,
  type RootState,
  rootState,
  untilMoved,
  wholeInstallation,
} from '../support/host-root.ts'
import { becomeLinked, execOpt, makeReady, noexecOpt } from '../support/host-root-states.ts'
import { dieAt, dyingPoints, failSecondPass, letSecondPass, shortGate, unfitCopy } from '../support/moving-agent.ts'
import type { AgentBuild } from './agent/build.ts'
import { AGENT_UNIT, type LabHost } from './host.ts'
import { type Lab, openLab } from './lab.ts'
import { until } from './wait.ts'

const moving: AgentBuild = { version: 'v0.4.0', moves: true }
const old: AgentBuild = { version: 'v0.2.0', knows: 'slots' }
const images = ['rhel9-like', 'ubuntu-like'] as const

let lab: Lab
const hosts = new Map<string, LabHost>()

beforeAll(async () => {
  lab = await openLab('lab-moves')
  await Promise.all(
    images.map(async (image) => {
      const spec = { layout: 'linked', worker: 'sleep', hooks: true, localdns: true } as const
      const host = await lab.boot({ name: `moves-${image.slice(0, 5)}`, image, agent: 'new', ...spec })
      await shortGate(host, 2, 1)
      // A story starts it more often than an agent's limit allows.
      await host.must(
        `printf '[Unit]\\nStartLimitIntervalSec=0\\n' >"/etc/systemd/system/$1.d/92-story-limit.conf"; systemctl daemon-reload`,
        [AGENT_UNIT],
      )
      hosts.set(image, host)
    }),
  )
})

afterAll(() => lab?.close())

const ready = async (host: LabHost, slots = { current: moving, lastGood: moving }): Promise<void> => {
  await becomeLinked(host, slots)
  await makeReady(host)
}
const start = (host: LabHost): Promise<string> => host.must('systemctl start "$1"', [AGENT_UNIT])
/** Where the journal ends just now. */
const mark = (host: LabHost): Promise<string> =>
  host.must("journalctl --sync; journalctl -q -n 1 --show-cursor | sed -n 's/^-- cursor: //p'")
/** All that the agent has said since. */
const said = (host: LabHost, since: string): Promise<string> =>
  host.must('journalctl --sync; journalctl -q -o cat -u "$1" --after-cursor "$2"', [AGENT_UNIT, since])
const untilSaid = (host: LabHost, since: string, words: string): Promise<unknown> =>
  until(`${host.name} to say: ${words}`, 30_000, async () =>
    (await said(host, since)).includes(words) ? true : undefined,
  )
const isLinked = (seen: RootState): void => {
  expect(seen).toMatchObject({ root: `-> ${LEGACY}`, moving: false, staging: false, active: 'active' })
  expect(seen.exe).toMatch(/^\/usr\/local\//)
  expect(seen.underLegacy).toContain('lib/aks-flex-node/aks-flex-node-current')
}

describe.each(images)('on %s an agent that moves its files', (image) => {
  const at = (): LabHost => hosts.get(image) as LabHost

  test('waits while last-good is from before the host root', async () => {
    const host = at()
    await becomeLinked(host, { current: moving, lastGood: old })
    await start(host)
    await until('the record', 10_000, async () => ((await rootState(host)).recorded === 1 ? true : undefined))
    isLinked(await rootState(host))
  })

  test('moves by itself: hooks, LocalDNS and recovery name the new root, and nothing is left in the old', async () => {
    const host = at()
    await ready(host)
    const before = await hookTexts(host)
    await start(host)
    const seen = await untilMoved(host, 30_000)
    expect(seen.helpers).toEqual([`${ROOT}/bin/unbounded-agent-nspawn-lifecycle`])
    expect(
      await host.must('cmp "$1" "/proc/$(systemctl show -p MainPID --value "$2")/exe" && echo same', [
        seen.helpers[0] ?? '',
        AGENT_UNIT,
      ]),
    ).toBe('same')
    expect(seen.underRoot).toContain('libexec/unbounded-localdns-network')
    const texts = await hookTexts(host)
    expect(texts).toEqual(new Map([...before].map(([file, text]) => [file, text.replaceAll(`${LEGACY}/`, `${ROOT}/`)])))
    expect(await host.must('ls -d /usr/local/lib/aks-flex-node 2>/dev/null || ls -d /usr/local/bin')).toBe(
      '/usr/local/bin',
    )
    const worker = await reconcile(host)
    expect(worker).not.toBe('0')
    expect(await hookTexts(host)).toEqual(texts)
  })

  test.each(dyingPoints)('killed at %s: one installation is whole, and the next starts end the move', async (point) => {
    const host = at()
    await ready(host)
    await dieAt(host, point)
    const since = await mark(host)
    // Whatever comes next waits until it has been looked at.
    await host.must(
      'd=/run/systemd/system/$1.d; mkdir -p "$d"; printf "[Service]\\nRestart=no\\n" >"$d/99-once.conf"; systemctl daemon-reload',
      [AGENT_UNIT],
    )
    await start(host)
    await untilSaid(host, since, `killed at ${point}`)
    const cut = await rootState(host)
    expect(cut.whole.length, JSON.stringify(cut)).toBeGreaterThan(0)
    expect(await wholeInstallation(host)).toEqual([])
    expect(faultsOfMoved(cut)).not.toEqual([])
    await host.must('rm "/run/systemd/system/$1.d/99-once.conf"; systemctl daemon-reload; systemctl start "$1"', [
      AGENT_UNIT,
    ])
    await untilMoved(host, 30_000)
  })

  test('a copy that does not run: undone, and the units are back', async () => {
    const host = at()
    await ready(host)
    const since = await mark(host)
    await unfitCopy(host)
    await start(host)
    await untilSaid(host, since, "could not move the agent's files: the copy at")
    const seen = await until('it to work', 10_000, async () => {
      const found = await rootState(host)
      return found.root === `-> ${LEGACY}` && !found.staging ? found : undefined
    })
    isLinked(seen)
    expect(await wholeInstallation(host)).toEqual([])
  })

  test('noexec: stays linked, nothing is copied', async () => {
    const host = at()
    await ready(host)
    const since = await mark(host)
    await noexecOpt(host)
    try {
      await start(host)
      await untilSaid(host, since, 'mounted noexec')
      isLinked(await rootState(host))
    } finally {
      await execOpt(host)
    }
  })

  test('M7 a second pass that fails removes nothing, holds, ends, and is tried again', async () => {
    const host = at()
    await ready(host)
    const since = await mark(host)
    await failSecondPass(host)
    await start(host)
    await untilSaid(host, since, 'Command execution failed: not taking work until the daemon is restarted: the NVIDIA')
    const seen = await rootState(host)
    expect(seen).toMatchObject({ root: 'directory', moving: true, whole: [ROOT, LEGACY] })
    expect(await said(host, since)).toContain("could not move the agent's files: the NVIDIA state")
    await letSecondPass(host)
    await untilMoved(host, 30_000)
  })

  test('a move that somebody else makes while it runs: it holds, and its next start is from the new root', async () => {
    const host = at()
    await becomeLinked(host, { current: moving, lastGood: moving })
    // No record yet: it is not its time, so it works.
    const since = await mark(host)
    await host.must('touch /etc/aks-flex-node/agent-upgrade-signal.json')
    await start(host)
    await untilSaid(host, since, ': running')
    await host.must(
      `cp -a /usr/local /opt/unbounded/agent.staging && touch /opt/unbounded/agent.staging/.moving
       l=/opt/unbounded/agent/lib/aks-flex-node/aks-flex-node s=/opt/unbounded/agent.staging/lib/aks-flex-node/aks-flex-node
       ln -sfn $l-green $s-current; ln -sfn $l-blue $s-last-good; ln -sfn $l-current /opt/unbounded/agent.staging/bin/aks-flex-node
       rm /opt/unbounded/agent /etc/aks-flex-node/agent-upgrade-signal.json; mv /opt/unbounded/agent.staging /opt/unbounded/agent`,
    )
    await untilSaid(host, since, 'not taking work until the daemon is restarted: its root has changed')
    await untilMoved(host, 30_000)
  })

  test('CONFLICT and BLOCKED: it refuses to start, and the worker starts all the same', async () => {
    const host = at()
    await becomeLinked(host, { current: moving, lastGood: moving })
    await host.must(
      'rm /opt/unbounded/agent; mkdir -p /opt/unbounded/agent/lib; cp -a /usr/local/lib/aks-flex-node /opt/unbounded/agent/lib/',
    )
    const agent = '/usr/local/lib/aks-flex-node/aks-flex-node-current agent --config /etc/aks-flex-node/config.json'
    expect(await host.sh(agent)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('run reset, then install again'),
    })
    expect(await reconcile(host)).not.toBe('0')
    await host.must('rm -r /opt/unbounded/agent; touch /opt/unbounded/agent')
    expect(await host.sh(agent)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a directory') })
    expect(await reconcile(host)).not.toBe('0')
    await host.must('rm /opt/unbounded/agent; mkdir /opt/unbounded/agent')
    expect(await host.sh(agent)).toMatchObject({ code: 1, stderr: expect.stringContaining('also exists; remove') })
  })

  test('an old helper leads the hooks back to /usr/local', async () => {
    const host = at()
    await ready(host)
    await start(host)
    await untilMoved(host, 30_000)
    await becomeLinked(host, { current: moving, lastGood: old })
    await host.must(
      `rm /opt/unbounded/agent; cp -a /usr/local/lib/aks-flex-node/aks-flex-node-blue /usr/local/bin/unbounded-agent-nspawn-lifecycle
       sed -i 's|/usr/local/bin/unb|/opt/unbounded/agent/bin/unb|' /etc/systemd/system/unbounded-agent-regenerate-config@kube1.service
       /usr/local/bin/unbounded-agent-nspawn-lifecycle nspawn-lifecycle pre-start kube1`,
    )
    expect((await rootState(host)).helpers).toEqual([`${LEGACY}/bin/unbounded-agent-nspawn-lifecycle`])
  })
})
