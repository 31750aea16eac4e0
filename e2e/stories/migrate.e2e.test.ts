import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { agentJournal, layoutOf, now } from '../support/agent-layout.ts'
import { changesOf, type DroverEnd, drover, execsOf, startDrover } from '../support/drover.ts'
import { freezeAt, thaw, untilFrozen } from '../support/freeze.ts'
import { hookTexts, reconcile } from '../support/hooks.ts'
import { LEGACY, ROOT, type RootState, rootState, wholeInstallation } from '../support/host-root.ts'
import { execOpt, noexecOpt } from '../support/host-root-states.ts'
import {
  each,
  eagerStarts,
  expectMoved,
  hostStatus,
  leaderOf,
  migrate,
  migrateArgs,
  movers,
  quick,
  readyToMove,
  runsUnmoved,
  untilQuiet,
} from '../support/migrate.ts'
import { failSecondPass, fitCopy, letSecondPass, unfitCopy } from '../support/moving-agent.ts'
import { agentArgs, releaseVar } from '../support/releases.ts'
import { age, blockedAs, expectCode, short } from '../support/upgrade.ts'

/**
 * Story: an agent is brought from /usr/local to /opt/unbounded/agent on systemd 252 and 257, from a release that knows
 * nothing of it to a host that is MOVED, and its worker does not notice (domain.md 11.26 to 11.33; rules M5 to M7, U5, W4).
 */

const images = ['rhel9-like', 'ubuntu-like'] as const
const unitFile = `/etc/systemd/system/${AGENT_UNIT}`

let lab: Lab
/** LEGACY with v0.2.0, hooks and LocalDNS: one way, all the way. */
const lives = new Map<string, LabHost>()
/** LINKED, led back to that before each test. */
const again = new Map<string, LabHost>()
let acl: LabHost

beforeAll(async () => {
  lab = await openLab('migrate', { yes: true })
  const worker = { worker: 'sleep', hooks: true, localdns: true } as const
  await Promise.all([
    ...images.map(async (image) => {
      lives.set(image, await lab.boot({ name: `life-${image.slice(0, 4)}`, image, agent: 'old', ...worker }))
    }),
    ...images.map(async (image) => {
      const spec = { image, agent: 'new', layout: 'linked', ...worker } as const
      const host = await lab.boot({ name: `again-${image.slice(0, 4)}`, ...spec })
      await eagerStarts(host)
      again.set(image, host)
    }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', worker: 'sleep' }).then((host) => {
      acl = host
    }),
  ])
})

afterAll(() => lab?.close())

const stepChanges = (run: DroverEnd, host: LabHost, step: number): string[] =>
  (run.host(host.name).steps[step]?.changes ?? []).map(({ summary }) => summary)

/** What a link must leave alone: the unit by bytes, the links of the layout, and the process. */
const asItWas = (host: LabHost): Promise<string> =>
  host.must(
    `cat "$1"; systemctl show -p MainPID,NRestarts,ExecMainStartTimestampMonotonic "$2"; cd /usr/local/lib/aks-flex-node; stat -c '%N %a %U %Y' ./*; stat -c '%N %i' /usr/local/bin/*`,
    [unitFile, AGENT_UNIT],
  )

const isLinked = (seen: RootState): void => {
  expect(seen).toMatchObject({ root: `-> ${LEGACY}`, moving: false, staging: false, active: 'active' })
  expect(seen.exe).toMatch(/^\/usr\/local\//)
  expect(seen.execStart).toMatch(/^\/usr\/local\//)
}

describe('the life of a host', () => {
  const leaders = new Map<string, string>()

  test('11.26 v0.2.0, linked: all runs from /usr/local as before, and unlink goes back', () =>
    each(lives, async (host) => {
      leaders.set(host.name, await leaderOf(host))
      const before = await asItWas(host)
      expectCode(await migrate(lab, host, '-e', 'stop_at=link'), 0)
      isLinked(await rootState(host))
      expect(await host.must('stat -c "%a %U:%G" /opt/unbounded')).toBe('755 root:root')
      expect(await asItWas(host)).toBe(before)
      expect((await hostStatus(lab, host)).hostRoot).toBe('LINKED')
      const twice = await migrate(lab, host, '-e', 'stop_at=link')
      expectCode(twice, 0)
      expect(twice.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
      expectCode(await drover(lab, ['run', 'unlink', '-l', host.name]), 0)
      expect((await rootState(host)).root).toBe('absent')
      expect((await hostStatus(lab, host)).hostRoot).toBe('LEGACY')
      expect(await asItWas(host)).toBe(before)
    }))

  test('11.16 /opt/unbounded is there already, with artifacts: it is kept as it is', () =>
    each(lives, async (host) => {
      await host.must(
        'chmod 0750 /opt/unbounded; mkdir -p /opt/unbounded/artifacts; echo kept >/opt/unbounded/artifacts/a',
      )
      expectCode(await migrate(lab, host, '-e', 'stop_at=link'), 0)
      isLinked(await rootState(host))
    }))

  test('11.28 v0.2.0 runs, and then is the one to go back to: not moved before both know the new root', () =>
    each(lives, async (host) => {
      for (const version of ['v0.3.0', 'v0.4.0']) {
        const message = blockedAs(await migrate(lab, host), host, 'move-not-ready')
        expect(message).toContain('v0.2.0')
        isLinked(await rootState(host))
        const upgrade = ['run', 'upgrade', '-l', host.name, ...agentArgs(await releaseVar(lab, { version })), ...short]
        expectCode(await drover(lab, upgrade), 0)
      }
    }))

  test('11.27 /opt is noexec: stays linked, and nothing was copied', () =>
    each(lives, async (host) => {
      await noexecOpt(host)
      try {
        blockedAs(await migrate(lab, host), host, 'root-noexec')
        isLinked(await rootState(host))
      } finally {
        await execOpt(host)
      }
    }))

  test('11.28 MOVED, by what the dry run has shown; nothing of the old root is left, and the worker did not notice', () =>
    each(lives, async (host) => {
      const texts = await hookTexts(host)
      const check = await migrate(lab, host, '--check', '--diff')
      expectCode(check, 0)
      expect(check.host(host.name).outcome).toBe('would-change')
      isLinked(await rootState(host))
      const run = await migrate(lab, host)
      expectCode(run, 0)
      expect(stepChanges(run, host, 1)).toEqual(stepChanges(check, host, 1))
      await expectMoved(host)
      expect(await leaderOf(host), 'W4').toBe(leaders.get(host.name))
      const left = await host.must('find /usr/local -name "*aks-flex*" -o -name "unbounded-*"; ls -d /usr/local/bin')
      expect(left).toBe('/usr/local/bin')
      // M6: the path, and not a byte more.
      const moved = new Map([...texts].map(([file, text]) => [file, text.replaceAll(`${LEGACY}/`, `${ROOT}/`)]))
      expect(await hookTexts(host)).toEqual(moved)
      expect(await host.must('stat -c %a /opt/unbounded; cat /opt/unbounded/artifacts/a')).toBe('750\nkept')
    }))

  test('a second run changes nothing, and looks once', () =>
    each(lives, async (host) => {
      const run = await migrate(lab, host)
      expectCode(run, 0)
      expect(run.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
      expect(execsOf(run, host.name)).toEqual(['inspect'])
      blockedAs(await drover(lab, ['run', 'unlink', '-l', host.name]), host, 'precondition-unmet')
      await expectMoved(host)
    }))

  test('11.29 the worker restarts through the moved helper, which is the running agent byte for byte', () =>
    each(lives, async (host) => {
      const [helper = ''] = (await rootState(host)).helpers
      expect(helper).toBe(`${ROOT}/bin/unbounded-agent-nspawn-lifecycle`)
      await host.must('cmp "$1" "/proc/$(systemctl show -p MainPID --value "$2")/exe"', [helper, AGENT_UNIT])
      const texts = await hookTexts(host)
      const worker = await reconcile(host)
      expect(worker).not.toBe('0')
      expect(worker).not.toBe(leaders.get(host.name))
      expect(await hookTexts(host)).toEqual(texts)
    }))
})

test('where /usr is read-only the agent was never anywhere else: unchanged', async () => {
  const run = await migrate(lab, acl)
  expectCode(run, 0)
  expect(run.host(acl.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
  expect(execsOf(run, acl.name)).toEqual(['inspect'])
})

describe('a LINKED host', () => {
  const start = (host: LabHost): Promise<string> => host.must('systemctl start "$1"', [AGENT_UNIT])

  test('11.31 the copy does not run: LINKED as before, and the agent was not touched', () =>
    each(again, async (host) => {
      await readyToMove(host)
      const before = await asItWas(host)
      await unfitCopy(host)
      const run = await migrate(lab, host)
      await fitCopy(host)
      expectCode(run, 2)
      expect(run.host(host.name)).toMatchObject({ outcome: 'failed', error: { code: 'copy-unfit' } })
      isLinked(await rootState(host))
      expect(await asItWas(host)).toBe(before)
      expect(await wholeInstallation(host)).toEqual([])
      expectCode(await migrate(lab, host), 0)
      await expectMoved(host)
    }))

  test('11.33 a foreign file beside the binaries: the directory stays, and it is said', () =>
    each(again, async (host) => {
      await readyToMove(host)
      await host.put('/usr/local/lib/aks-flex-node/notes.txt', 'mine\n')
      const run = await migrate(lab, host)
      expectCode(run, 0)
      await expectMoved(host)
      expect(JSON.stringify(run.host(host.name).findings)).toContain('notes.txt')
      expect(
        await host.must('cd /usr/local/lib/aks-flex-node; cat ./*; rm notes.txt; cd ..; rmdir aks-flex-node'),
      ).toBe('mine')
    }))

  test('U5 an agent that was stopped is moved, and stays stopped', () =>
    each(again, async (host) => {
      await readyToMove(host)
      await host.must('systemctl stop "$1"', [AGENT_UNIT])
      const run = await migrate(lab, host)
      expectCode(run, 0)
      expect(JSON.stringify(run.host(host.name).findings)).toContain('moved-while-stopped')
      expect(await rootState(host)).toMatchObject({
        root: 'directory',
        moving: false,
        active: 'inactive',
        underLegacy: [],
      })
      await start(host)
      await expectMoved(host)
    }))

  test('11.32 M7 a second pass that fails: it holds, status says why, and drover ends it', () =>
    each(again, async (host) => {
      await readyToMove(host, movers)
      const since = await now(host)
      await failSecondPass(host)
      await start(host)
      await expect.poll(() => agentJournal(host, since), { timeout: 30_000 }).toContain('not taking work')
      expect(await rootState(host)).toMatchObject({ moving: true, whole: [ROOT, LEGACY] })
      await host.must(`touch -d '10 minutes ago' ${ROOT}/.moving`)
      const stuck = await hostStatus(lab, host)
      expect(stuck).toMatchObject({ hostRoot: 'MOVING-2', verdict: 'move-stuck', fix: 'migrate' })
      expect(stuck.explanation).toContain('NVIDIA')
      const run = await migrate(lab, host)
      await letSecondPass(host)
      expectCode(run, 0)
      await expectMoved(host)
      expect(await agentJournal(host, since)).not.toContain('Start request repeated too quickly')
      expect((await host.unit('aks-flex-node-agent-recovery.service')).ActiveState).toBe('inactive')
    }))

  test('M5 an agent that makes the second pass itself has the time for it', () =>
    each(again, async (host) => {
      await runsUnmoved(host)
      const run = await migrate(lab, host, '-e', 'second_pass_within_s=30')
      expectCode(run, 0)
      await expectMoved(host)
      expect(stepChanges(run, host, 3)).toEqual([])
    }))

  test.each([
    ['before drover has the lock', 0],
    ['while drover has it', 3],
  ] as const)('an agent that would move by itself starts %s: MOVED, by one of them', (_when, change) =>
    each(again, async (host) => {
      await readyToMove(host, movers)
      await freezeAt(host, change)
      const run = startDrover(lab, migrateArgs(host))
      await untilFrozen(host)
      const since = await now(host)
      await start(host)
      await expect
        .poll(() => agentJournal(host, since), { timeout: 30_000 })
        // Drover may have been held up a change later than it was meant to be, and have the lock already.
        .toMatch(change === 0 ? /not taking work|moved|holds the lock/ : /an activation holds the lock/)
      await thaw(host)
      const ended = await run.ended
      // Drover trusts no plan that the agent has overtaken; what was begun is ended by the next run, or by the agent.
      expect([0, 2], `${ended.stdout}${ended.stderr}`).toContain(ended.code)
      if (ended.code !== 0) expect(ended.host(host.name).error?.code).toMatch(/drifted|activation-locked/)
      await untilQuiet(host, 30_000)
      await age(host)
      expectCode(await migrate(lab, host), 0)
      await expectMoved(host)
      expect((await layoutOf(host)).lastGoodVersion).toBe('v0.4.0')
    }),
  )
})

test('a whole run needs no more than three applies', async () => {
  const host = again.get('rhel9-like') as LabHost
  await readyToMove(host)
  const run = await drover(lab, ['run', 'migrate', '-l', host.name, ...quick])
  expectCode(run, 0)
  expect(changesOf(run.host(host.name)).length).toBeGreaterThan(20)
  expect(execsOf(run, host.name).filter((verb) => verb === 'apply').length).toBeLessThanOrEqual(3)
})
