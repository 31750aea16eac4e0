import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { type DroverEnd, drover, startDrover } from '../support/drover.ts'
import { freezeAt, thaw, untilFrozen } from '../support/freeze.ts'
import { isFull } from '../support/full.ts'
import { LEGACY, ROOT, rootState, wholeInstallation } from '../support/host-root.ts'
import { becomeLinked } from '../support/host-root-states.ts'
import {
  each,
  eagerStarts,
  expectMoved,
  hostStatus,
  leaderOf,
  migrate,
  movers,
  readyToMove,
} from '../support/migrate.ts'
import { dieAt, dyingPoints, shortGate } from '../support/moving-agent.ts'
import { agentArgs, type ReleaseVar, releaseVar } from '../support/releases.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { age, blockedAs, expectCode, freeLock, holdLock, short } from '../support/upgrade.ts'

/**
 * Story: what a move meets that is not as it should be. A move that the agent has left half done is ended; where nobody can
 * know what is right nothing is changed, and status names state, cause and remedy (domain.md 11.30, 11.34, 11.35; rules M4, U9).
 */

const images = ['rhel9-like', 'ubuntu-like'] as const
const signal = '/etc/aks-flex-node/agent-upgrade-signal.json'

let lab: Lab
const hosts = new Map<string, LabHost>()
let next: ReleaseVar

beforeAll(async () => {
  lab = await openLab('migrate-refusals', { yes: true })
  await Promise.all(
    images.map(async (image) => {
      const spec = { agent: 'new', layout: 'linked', worker: 'sleep', hooks: true, localdns: true } as const
      const host = await lab.boot({ name: `no-${image.slice(0, 4)}`, image, ...spec })
      await eagerStarts(host)
      hosts.set(image, host)
    }),
  )
  next = await releaseVar(lab, { version: 'v0.5.0' })
})

afterAll(() => lab?.close())

/** Everything but what the passing of time and the agent's own log change. */
const tree = async (host: LabHost): Promise<string[]> =>
  (await snapshotOf(host)).filter(
    (line) => !/aks-flex-node\/(daemon-state|agent\.log)|\/run\/lab-|\/run\/story-/.test(line),
  )

/** Refused before anything is done, with this code, and not a file was touched. */
const refuses = async (host: LabHost, code: string, run: () => Promise<DroverEnd>): Promise<string> => {
  const before = await tree(host)
  const message = blockedAs(await run(), host, code)
  expect(await tree(host)).toEqual(before)
  return message
}

const stopped = (host: LabHost): Promise<string> => host.must('systemctl stop "$1"', [AGENT_UNIT])
const upgrade = (host: LabHost, ...more: readonly string[]): string[] => [
  ...['run', 'upgrade', '-l', host.name, ...agentArgs(next), ...short],
  ...more,
]
const rollback = (host: LabHost): string[] => [
  ...['run', 'rollback', '-l', host.name, '-e', 'host_root_since=v0.3.0'],
  ...short,
]

/** A whole copy in ROOT with its mark, as the first pass leaves it; units and agent are still those of the old root. */
const swapIn = (host: LabHost): Promise<string> =>
  host.must(
    `s=/opt/unbounded/agent.staging r=/opt/unbounded/agent l=$r/lib/aks-flex-node/aks-flex-node
     mkdir -p $s/lib $s/libexec; cp -a /usr/local/bin $s/; cp -a /usr/local/lib/aks-flex-node $s/lib/; cp -a /usr/local/libexec/. $s/libexec/ 2>/dev/null
     for n in current last-good; do t=$(readlink /usr/local/lib/aks-flex-node/aks-flex-node-$n); ln -sfn "$l-\${t##*-}" $s/lib/aks-flex-node/aks-flex-node-$n; done
     ln -sfn $l-current $s/bin/aks-flex-node; touch $s/.moving; rm $r; mv $s $r`,
  )

/** Both in the full set; otherwise they take turns, and each is met by every second point. */
const inTurn = (index: number): ReadonlyMap<string, LabHost> =>
  isFull ? hosts : new Map([...hosts].filter((_, at) => at === index % hosts.size))

describe('on systemd 252 and 257', () => {
  describe('11.30 the agent dies in its own move, and is not started again', () => {
    test.each(dyingPoints)('at %s: drover ends the move', (point) =>
      each(inTurn(dyingPoints.indexOf(point)), async (host) => {
        await readyToMove(host, movers)
        await shortGate(host, 2, 1)
        const leader = await leaderOf(host)
        await dieAt(host, point)
        await host.must(
          'd=/run/systemd/system/$1.d; mkdir -p "$d"; printf "[Service]\\nRestart=no\\n" >"$d/99-once.conf"; systemctl daemon-reload; systemctl start "$1"',
          [AGENT_UNIT],
        )
        try {
          await until(`the agent to die at ${point}`, 30_000, async () =>
            (await host.sh('[ -e /run/lab-die-at ]')).code === 0 ? undefined : true,
          )
          expect(await wholeInstallation(host)).toEqual([])
        } finally {
          await host.must('rm "/run/systemd/system/$1.d/99-once.conf"; systemctl daemon-reload', [AGENT_UNIT])
        }
        // The restart that it had queued comes all the same, and may have brought the move to its end.
        const states = point === 'restart-queued' ? /^(MOVING-[12]|MOVED)$/ : /^(STAGING|SWAP-GAP|MOVING-[12])$/
        expect((await hostStatus(lab, host)).hostRoot).toMatch(states)
        expectCode(await migrate(lab, host), 0)
        await expectMoved(host, point)
        expect(await leaderOf(host)).toBe(leader)
      }),
    )
  })

  describe('11.34 what only a person can decide', () => {
    beforeEach(() => each(hosts, (host) => readyToMove(host)))

    test.each([
      [
        'CONFLICT',
        'move-unfinished',
        /reset/,
        'rm $R; mkdir -p $R/lib $R/bin; cp -a /usr/local/lib/aks-flex-node $R/lib/',
      ],
      ['BLOCKED', 'layout-unknown', /move it away/, 'rm $R; touch $R'],
      ['OPERATOR-LINK', 'operator-link', null, 'mkdir -p /data/agent; ln -sfn /data/agent $R'],
    ] as const)('%s: refused, nothing is touched, and the worker runs', (state, code, remedy, script) =>
      each(hosts, async (host) => {
        // It would refuse to start, again and again.
        await stopped(host)
        await host.must(`R=${ROOT}; ${script}`)
        expect(await refuses(host, code, () => migrate(lab, host))).toContain(state)
        const status = await hostStatus(lab, host)
        expect(status).toMatchObject({ hostRoot: state, worker: { state: 'active' } })
        expect(status.explanation).not.toBe('')
        if (remedy === null) expect(status.remedy).toBe(null)
        else expect(status.remedy).toMatch(remedy)
      }),
    )

    test('an upgrade of the cluster’s is not over', () =>
      each(hosts, async (host) => {
        await host.put(signal, '{"operationName":"nightly"}\n', '0600')
        expect(await refuses(host, 'upgrade-pending', () => migrate(lab, host))).toContain('nightly')
      }))

    test('somebody holds the agent’s lock, and who it is', () =>
      each(hosts, async (host) => {
        await holdLock(host)
        try {
          expect(await refuses(host, 'activation-locked', () => migrate(lab, host))).toContain('story-holder.service')
        } finally {
          await freeLock(host)
        }
      }))

    test('nobody says since when agents know the new root, and theirs are not noted', () =>
      each(hosts, async (host) => {
        await host.must('systemctl stop "$1"; rm -f /etc/aks-flex-node/host-root-agents', [AGENT_UNIT])
        const unsaid = ['-e', '{"host_root_since":null}']
        await refuses(host, 'move-not-ready', () => migrate(lab, host, ...unsaid))
      }))
  })

  test('11.34 LINK-ORPHAN: nothing is there to move, with the unit and without it', () =>
    each(hosts, async (host) => {
      await readyToMove(host)
      await stopped(host)
      await host.must(
        'mkdir -p /srv/aside; mv /usr/local/lib/aks-flex-node /srv/aside/lib; mv /usr/local/bin/aks-flex-node /srv/aside/bin',
      )
      expect((await hostStatus(lab, host)).hostRoot).toBe('LINK-ORPHAN')
      expect(await refuses(host, 'layout-unknown', () => migrate(lab, host))).toContain("The agent's unit is there")
      await host.must('mv "/etc/systemd/system/$1" /srv/aside/; systemctl daemon-reload', [AGENT_UNIT])
      await refuses(host, 'agent-missing', () => migrate(lab, host))
      await host.must(
        `cd /srv/aside; mv lib /usr/local/lib/aks-flex-node; mv bin /usr/local/bin/aks-flex-node; mv "$1" /etc/systemd/system/
         systemctl daemon-reload`,
        [AGENT_UNIT],
      )
    }))

  test('U9 a version that cannot be compared is unknown: refused unless declared', () =>
    each(hosts, async (host) => {
      const dev = { current: { version: 'dev' }, lastGood: { version: 'v0.3.0' } } as const
      await becomeLinked(host, dev)
      const message = await refuses(host, 'move-not-ready', () => migrate(lab, host))
      expect(message).toContain('dev')
      // The digest of a binary that has run here and knows the new root is proof as well.
      await readyToMove(host, dev)
      expectCode(await migrate(lab, host, '-e', '{"host_root_since":null}'), 0)
      await expectMoved(host)
    }))

  describe('11.35 nothing switches an agent whose move is not over', () => {
    const half: readonly (readonly [string, RegExp, (host: LabHost) => Promise<unknown>])[] = [
      ['STAGING', /STAGING/, (host) => host.must(`mkdir -p ${ROOT}.staging/bin`)],
      ['MOVING-1', /MOVING-1/, (host) => swapIn(host)],
      [
        'MOVING-2',
        /MOVING-2/,
        async (host) => {
          expectCode(await migrate(lab, host), 0)
          await host.must(`touch ${ROOT}/.moving`)
        },
      ],
    ]

    test.each(half)('%s: neither upgrade nor rollback', (state, shows, make) =>
      each(hosts, async (host) => {
        await readyToMove(host)
        await make(host)
        expect((await hostStatus(lab, host)).hostRoot).toBe(state)
        for (const args of [upgrade(host), rollback(host)])
          expect(await refuses(host, 'move-unfinished', () => drover(lab, args))).toMatch(shows)
        expectCode(await migrate(lab, host), 0)
        await expectMoved(host)
      }),
    )

    test('the swap comes between the plan and the lock: drover notices under the lock, and switches nothing', () =>
      each(hosts, async (host) => {
        await readyToMove(host)
        await freezeAt(host, 0)
        const run = startDrover(lab, upgrade(host))
        await untilFrozen(host)
        await swapIn(host)
        await thaw(host)
        const ended = await run.ended
        expectCode(ended, 2)
        expect(ended.host(host.name).error?.code).toMatch(/drifted|move-unfinished/)
        const seen = await rootState(host)
        expect(seen).toMatchObject({ root: 'directory', moving: true })
        expect(seen.execStart).toMatch(new RegExp(`^${LEGACY}/`))
        await age(host)
        expectCode(await migrate(lab, host), 0)
        await expectMoved(host)
      }))
  })
})
