import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { rollbackSource } from '../../src/changes/rollback-source.ts'
import { DroverError } from '../../src/errors.ts'
import { armedOf } from '../../src/facts/armed.ts'
import type { HostState } from '../../src/facts/state.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { type CoreHost, openCore } from '../support/core.ts'
import {
  arm,
  conf,
  confirm,
  current,
  facts,
  fireNow,
  hold,
  lock,
  makeToy,
  restart,
  root,
  runsFrom,
  scope,
  slots,
  toGreen,
  toy,
  traces,
  unitFile,
  untilRolledBack,
  upFrom,
} from '../support/toy.ts'

/** The armed rollback by itself, below tasks and runs: what the host does when nobody is there to ask. */

const images = ['rhel9-like', 'ubuntu-like'] as const
let lab: Lab

interface Guarded {
  readonly host: LabHost
  look(): Promise<HostState>
  /** Looks and applies; the run's id. */
  apply(...changes: Change[]): Promise<string>
  /** The same, for changes that fail. */
  fails(...changes: Change[]): Promise<DroverError>
  /** After a reboot. */
  reopen(): Promise<void>
}
const hosts: Guarded[] = []

const open = async (image: (typeof images)[number] | 'acl-like'): Promise<Guarded> => {
  const host = await lab.boot({ name: `guard-${image.split('-')[0]}`, image })
  await makeToy(host)
  let core: CoreHost = await openCore(lab, host)
  const apply = async (...changes: Change[]): Promise<string> => core.apply(await core.inspect(facts), changes)
  const guarded: Guarded = {
    host,
    look: () => core.inspect(facts),
    apply,
    fails: async (...changes) => {
      const error = await apply(...changes).then(
        () => new Error('it did not fail'),
        (thrown: unknown) => thrown,
      )
      if (!(error instanceof DroverError)) throw error
      return error
    },
    reopen: async () => {
      await core.close().catch(() => undefined)
      core = await openCore(lab, host)
    },
  }
  closing.push(() => core.close())
  return guarded
}
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  lab = await openLab('guard', { yes: true })
  hosts.push(...(await Promise.all(images.map(open))))
}, 300_000)

afterAll(async () => {
  for (const close of closing) await close().catch(() => undefined)
  await lab?.close()
})

/** On both hosts at once. */
const onAll = (name: string, story: (guarded: Guarded) => Promise<void>): void => {
  test(name, async () => {
    const told = await Promise.allSettled(
      hosts.map(async (guarded) => {
        try {
          await story(guarded)
        } catch (thrown) {
          throw new Error(`on ${guarded.host.name}`, { cause: thrown })
        }
      }),
    )
    for (const one of told) if (one.status === 'rejected') throw one.reason
  })
}

onAll(
  'what was held is let go before the run is over, and only by the run that holds it',
  async ({ host, apply, fails }) => {
    const free = (): Promise<string> => host.must('flock -n "$1" true && echo free || echo held', [lock])
    const meanwhile: Change = { kind: 'write', path: conf, content: 'two\n', mode: 0o644, owner: 'root:root' }
    await apply(
      hold,
      meanwhile,
      { kind: 'release', lock },
      {
        kind: 'await',
        condition: { command: ['flock', '-n', lock, 'true'], is: 'succeeding', timeoutS: 5 },
        withinMs: 0,
        stableMs: 0,
      },
    )
    expect([await free(), await traces(host)]).toEqual(['free', ''])
    await host.must(
      `systemd-run --quiet --collect --unit=drover-guard.service --description='drover run other by other@there' sleep infinity`,
    )
    expect((await fails({ kind: 'release', lock })).detail).toContain('of another run')
    await host.must('systemctl stop drover-guard.service')
    // Nobody holds anything.
    await apply({ kind: 'release', lock })
    expect(await traces(host)).toBe('')
  },
)

onAll(
  'what nobody confirms is undone at its deadline, and the service runs as before',
  async ({ host, apply, look }) => {
    const run = await apply(hold, arm(6000), toGreen, restart, upFrom(slots.green))
    const state = await look()
    expect(armedOf(state.self)).toMatchObject({
      phase: 'armed',
      run,
      operator: 'e2e@lab',
      what: 'switch to green',
      candidate: 'digest-of-green',
    })
    const left = (armedOf(state.self)?.firesAtS ?? 0) - state.os.uptimeS
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(6)
    await host.must('systemctl daemon-reload && systemctl daemon-reexec')
    const [who, operator, since, how, , ...what] = await untilRolledBack(host)
    expect([who, operator, how, what.join(' ')]).toEqual([run, 'e2e@lab', 'rolled-back', 'switch to green'])
    expect(since).toBe(armedOf(state.self)?.since)
    expect(await runsFrom(host)).toBe(slots.blue)
    expect(await traces(host)).toBe('')
    expect((await host.sh(`flock -n ${lock} true`)).code).toBe(0)
  },
)

onAll(
  'no reload moves the deadline; what is confirmed stays, leaves nothing behind, and may be confirmed again',
  async ({ host, apply }) => {
    const run = await apply(hold, arm(600_000), toGreen, restart, upFrom(slots.green))
    const next = 'systemctl show -p NextElapseUSecMonotonic --value drover-rollback.timer'
    const deadline = await host.must(next)
    await host.must('systemctl daemon-reload && systemctl daemon-reexec')
    expect(await host.must(next)).toBe(deadline)
    await host.must('mkdir -p /run/drover/"$1"', [run])
    expect(await confirm(host, run)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await traces(host)).toBe('')
    expect(await confirm(host, run)).toMatchObject({ code: 0 })
    expect(await fireNow(host, run)).toMatchObject({ code: 3 })
    expect(await runsFrom(host)).toBe(slots.green)
    await host.must('rm -rf /run/drover')
    expect(await confirm(host, run)).toMatchObject({ code: 3 })
    await host.must('ln -sfn "$1" "$2" && systemctl restart toy.service', [slots.blue, current])
  },
)

onAll('a reboot that nobody confirmed is undone before the service starts', async ({ host, apply, reopen }) => {
  const run = await apply(hold, arm(600_000), toGreen, restart, upFrom(slots.green))
  const before = await startsOf(host)
  await host.reboot()
  const [who, , , how] = await untilRolledBack(host)
  expect([who, how]).toEqual([run, 'rolled-back'])
  expect(await startsOf(host)).toEqual([...before, slots.blue])
  expect(await runsFrom(host)).toBe(slots.blue)
  await reopen()
})

onAll('of confirming and firing exactly one wins, however close they come', async ({ host, apply }) => {
  const winners = new Set<string>()
  // How much later the confirmation comes: after each round nearer to where the other one wins.
  let [laterMs, stepMs, last] = [0, 80, 0]
  for (let round = 0; round < 10; round += 1) {
    const run = await apply(arm(600_000), toGreen)
    const [confirmS, fireS] = [laterMs, -laterMs].map((ms) => (Math.max(ms, 0) / 1000).toFixed(3))
    const { code } = await host.sh(
      `(sleep "$4"; touch /var/lib/drover/armed/now; systemctl start --no-block drover-rollback.service) 2>/dev/null & sleep "$3"; sh -c "$1" confirm "$2" e2e@lab; code=$?; wait; exit $code`,
      [rollbackSource('confirm'), run, confirmS ?? '', fireS ?? ''],
    )
    expect([0, 7]).toContain(code)
    const told = await fireNow(host, run)
    expect(told.code).toBe(code === 0 ? 3 : 0)
    if (code === 7) expect(told.stdout).toMatch(new RegExp(`^${run} e2e@lab \\S+ rolled-back \\S+ switch to green\n`))
    expect(await host.must(`readlink ${current}`)).toBe(code === 0 ? slots.green : slots.blue)
    expect(await traces(host)).toBe('')
    await host.must(`ln -sfn ${slots.blue} ${current}`)
    winners.add(code === 0 ? 'confirm' : 'fire')
    const way = code === 0 ? 1 : -1
    stepMs = way === -last ? stepMs / 2 : stepMs * 2
    laterMs += way * stepMs
    last = way
  }
  expect([...winners].sort()).toEqual(['confirm', 'fire'])
})

onAll(
  'another run can neither arm nor hold beside it, and may confirm or fire it',
  async ({ host, apply, fails, look }) => {
    const first = await apply(hold, arm(600_000), toGreen)
    for (const change of [arm(600_000), hold]) {
      const error = await fails(change)
      expect(error.detail).toContain(`a rollback is armed on this host: of run ${first} of e2e@lab, since 20`)
    }
    expect(armedOf((await look()).self)).toMatchObject({ run: first, phase: 'armed' })
    expect(await confirm(host, 'other')).toMatchObject({
      code: 8,
      stdout: expect.stringContaining(`${first} e2e@lab 20`),
    })
    expect(await fireNow(host, 'other')).toMatchObject({
      code: 8,
      stdout: expect.stringContaining(`${first} e2e@lab 20`),
    })
    await apply({ kind: 'confirm', run: first })
    expect(await traces(host)).toBe('')
    expect(await host.must(`readlink ${current}`)).toBe(slots.green)
    expect((await fails({ kind: 'confirm', run: first })).detail).toContain(`nothing of run ${first} is armed`)
    await host.must(`ln -sfn ${slots.blue} ${current}`)
    const second = await apply(hold, arm(600_000), toGreen, restart)
    await apply({ kind: 'fire', run: second, withinMs: 60_000 })
    expect(await traces(host)).toBe('')
    expect(await runsFrom(host)).toBe(slots.blue)
  },
)

const elsewhere = `ln -sfn /srv/elsewhere ${current}`
onAll('what somebody else changed is left alone, all of it', async ({ host, apply }) => {
  const cases = [
    { made: elsewhere, how: 'superseded', link: '/srv/elsewhere' },
    { made: `rm ${conf}`, how: 'superseded', link: slots.green },
    { made: `echo three >${conf}`, how: 'superseded', link: slots.green },
    { made: `mkdir ${root} && touch ${root}/.moving`, how: 'superseded-by-move', link: slots.green },
    { made: `mkdir ${root}`, how: 'superseded-by-move', link: slots.green },
    { made: `ln -s /srv ${root}`, how: 'superseded-by-move', link: slots.green },
    { made: `ln -s /usr/local ${root}`, how: 'rolled-back', link: slots.blue },
  ]
  for (const { made, how, link } of cases) {
    await host.must(`rm -rf ${root}; ln -sfn ${slots.blue} ${current}; echo one >${conf}`)
    const run = await apply(hold, arm(600_000), write(conf, 'two\n'), toGreen)
    await host.must(made)
    const before = await startsOf(host)
    const { code, stdout } = await fireNow(host, run)
    expect([code, stdout.split(' ')[3]], made).toEqual([how === 'rolled-back' ? 0 : 5, how])
    expect(await host.must(`readlink ${current}`), made).toBe(link)
    expect(await startsOf(host)).toEqual(before)
    expect(await traces(host), made).toBe('')
  }
  const told = await host.must('journalctl --no-pager -o cat -u drover-rollback.service')
  expect(told).toContain(`${conf} is another file now, which this run did not make of it`)
  // Of a file of secrets the digest is one, too.
  expect(told).not.toMatch(/[0-9a-f]{64}/)
  await host.must(`rm -rf ${root}; echo one >${conf}; chmod 0640 ${conf}; chown 1:1 ${conf}`)
})

onAll(
  'any part of a group is undone to what was there before, byte for byte, with mode and owner',
  async ({ host, apply }) => {
    const path = fc.constantFrom(conf, '/srv/toy/fresh', current, slots.green)
    const change: fc.Arbitrary<Change> = fc.oneof(
      fc.record({
        kind: fc.constant('write' as const),
        path,
        content: fc.string(),
        mode: fc.constantFrom(0o600, 0o755),
        owner: fc.constantFrom('root:root', '7:7'),
      }),
      fc.record({
        kind: fc.constant('link' as const),
        path,
        target: fc.constantFrom('/srv/toy/fresh', slots.green, "it's $HOME\n"),
      }),
      fc.record({ kind: fc.constant('remove' as const), path, recurse: fc.constant(false) }),
    )
    const seen = `cd /srv/toy && for f in *; do stat -c '%N %f %u %g %s' "$f"; [ -L "$f" ] || sha256sum "$f"; done`
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), fc.nat(6), async (wanted, cut) => {
        const changes = possible(wanted)
        fc.pre(changes.length > 0)
        const before = await host.must(seen)
        const all = [...changes.slice(0, cut), never, ...changes.slice(cut)]
        await expect(apply(arm(600_000), ...all)).rejects.toThrow()
        const run = (await host.must('cat /var/lib/drover/armed/owner')).split(' ')[0] ?? ''
        expect(await fireNow(host, run)).toMatchObject({ code: 0 })
        expect(await host.must(seen)).toBe(before)
        expect(await traces(host)).toBe('')
      }),
      { numRuns: 8, seed: 3 },
    )
  },
)

onAll(
  'an undo that is killed, and one that a reboot cuts in the middle, come to their end',
  async ({ host, apply, reopen }) => {
    await host.must('mkdir -p /srv/other && echo one >/srv/other/file && mount --bind /srv/other /srv/other')
    await apply(arm(600_000), toGreen, write('/srv/other/file', 'two\n'), restart, upFrom(slots.green))
    await host.must(`mount -o remount,bind,ro /srv/other && ${fires}`)
    // The file cannot be put back, again and again, and keeps neither the link nor the service from it.
    await until('an undo half done', 30_000, async () => ((await runsFrom(host)) === slots.blue ? true : undefined))
    await host.sh('systemctl kill -s KILL drover-rollback.service')
    expect(await host.must('cat /srv/other/file; ls /var/lib/drover')).toBe('two\nundoing')
    await host.reboot()
    const [, , , how] = await untilRolledBack(host)
    expect([how, await host.must('cat /srv/other/file'), await runsFrom(host)]).toEqual([
      'rolled-back',
      'one',
      slots.blue,
    ])
    await reopen()
  },
)

onAll(
  'who holds the lock is waited for, and an undo killed while it watches starts the service once',
  async ({ host, apply }) => {
    const run = await apply(arm(600_000), toGreen, restart, upFrom(slots.green))
    await settleFor(host, 60)
    await host.must(
      `systemd-run --quiet --unit=holder flock ${lock} sleep 600 && while flock -n ${lock} true; do sleep 0.1; done`,
    )
    await host.must(fires)
    const kill = `pid=$(systemctl show -p MainPID --value drover-rollback.service) && [ "$pid" -gt 0 ] && kill -s KILL "$pid"`
    const waits = 'grep -q -e "-> FLOCK" /proc/locks'
    await until('waiting for the lock', 30_000, async () => ((await host.sh(waits)).code === 0 ? true : undefined))
    await host.must(kill)
    expect(await host.must(`readlink ${current}; ls /var/lib/drover`)).toBe(`${slots.green}\nundoing`)
    const before = await startsOf(host)
    await host.must('systemctl stop holder')
    await until('the service to run as before', 30_000, async () =>
      (await runsFrom(host)) === slots.blue ? true : undefined,
    )
    await host.must(kill)
    await settleFor(host, 1)
    const [who, , , how] = await untilRolledBack(host)
    expect([who, how]).toEqual([run, 'rolled-back'])
    expect(await startsOf(host)).toEqual([...before, slots.blue])
  },
)

onAll(
  'a full disk refuses the arming before anything is changed, and does not keep the host from going back',
  async ({ host, apply, fails }) => {
    await host.must('mkdir -p /var/lib/drover && mount -t tmpfs -o size=1m tmpfs /var/lib/drover')
    const fill = 'head -c 2000000 /dev/zero >/var/lib/drover/filler || :'
    await host.must(fill)
    const error = await fails(hold, arm(600_000), write(conf, 'two\n'))
    expect(error.detail).toMatch(/\/var\/lib\/drover has 0 KiB left, and \d+ are needed to keep what is replaced/)
    expect(await traces(host)).toBe('filler')
    await host.must('rm /var/lib/drover/filler')
    const run = await apply(hold, arm(600_000), write(conf, 'two\n'), toGreen, restart)
    await host.must(fill)
    expect(await fireNow(host, run)).toMatchObject({ code: 0, stdout: expect.stringContaining('rolled-back') })
    expect(await host.must(`stat -c '%a %u %g' ${conf}; cat ${conf}`)).toBe('640 1 1\none')
    expect(await runsFrom(host)).toBe(slots.blue)
    await host.must('umount /var/lib/drover && rmdir /var/lib/drover')
  },
)

onAll('where /etc cannot be written nothing is armed', async ({ host, fails }) => {
  await host.must(
    'mount --bind /etc/systemd/system /etc/systemd/system && mount -o remount,bind,ro /etc/systemd/system',
  )
  const error = await fails(hold, arm(600_000), toGreen)
  await host.must('umount /etc/systemd/system')
  expect(error.detail).toContain('/etc/systemd/system is read-only')
  expect(await traces(host)).toBe('')
  expect(await host.must(`readlink ${current}`)).toBe(slots.blue)
})

onAll('an apply that is still at it when the deadline comes is ended first', async ({ host, fails }) => {
  const sleeps: Change = {
    kind: 'await',
    condition: { command: ['sleep', '90'], is: 'succeeding', timeoutS: 90 },
    withinMs: 0,
    stableMs: 0,
  }
  expect(await fails(hold, arm(5000), toGreen, restart, sleeps, write(conf, 'two\n'))).toMatchObject({
    code: 'apply-incomplete',
  })
  const [, , , how] = await untilRolledBack(host)
  expect([how, await runsFrom(host), await host.must(`cat ${conf}`)]).toEqual(['rolled-back', slots.blue, 'one'])
})

onAll(
  'a file that the service rewrites when it is started is put back, whatever it has become',
  async ({ host, apply }) => {
    const run = await apply(arm(600_000), write(conf, 'two\n'), { ...restart, spoils: [`path:${conf}`] })
    await host.must(`echo three >${conf}`)
    expect(await fireNow(host, run)).toMatchObject({ code: 0 })
    expect(await host.must(`stat -c '%a %u %g' ${conf}; cat ${conf}`)).toBe('640 1 1\none')
  },
)

onAll('a service that did not run before does not run after it', async ({ host, apply }) => {
  await host.must('systemctl stop toy.service')
  const run = await apply(arm(600_000), toGreen, { kind: 'systemctl', verb: 'start', unit: toy }, upFrom(slots.green))
  expect(await fireNow(host, run)).toMatchObject({ code: 0 })
  expect((await host.unit(toy)).ActiveState).toBe('inactive')
  await host.must('systemctl start toy.service')
})

onAll('the binary in the machine that is active by then becomes the one the host runs', async ({ host, apply }) => {
  const worker = { stateFile: '/srv/toy.json', current, inside: '/srv/machines/{machine}/bin/x' }
  await host.must(
    `for m in kube1 kube2; do mkdir -p /srv/machines/$m/bin && cp -p ${slots.green} /srv/machines/$m/bin/x; done`,
  )
  const run = await apply(arm(600_000, { scope: { ...scope, worker } }), toGreen)
  await host.must(`printf '{ "activeMachine" : "kube2",\n"x":1}' >/srv/toy.json && chown 5:5 /srv/machines/kube2/bin/x`)
  expect(await fireNow(host, run)).toMatchObject({ code: 0 })
  await host.must(`cmp /srv/machines/kube2/bin/x ${slots.blue} && cmp /srv/machines/kube1/bin/x ${slots.green}`)
  expect(await host.must('stat -c "%a %u" /srv/machines/kube2/bin/x; ls -A /srv/machines/kube2/bin')).toBe('755 5\nx')
  // A link in there is one of the worker, and leads elsewhere for the host.
  await host.must(
    `mkdir /srv/out && mv /srv/machines/kube2/bin/x /srv/out/ && rmdir /srv/machines/kube2/bin && ln -s /srv/out /srv/machines/kube2/bin && cp ${slots.green} /srv/out/x`,
  )
  const again = await apply(arm(600_000, { scope: { ...scope, worker } }), toGreen)
  expect(await fireNow(host, again)).toMatchObject({ code: 0 })
  await host.must(`cmp /srv/out/x ${slots.green}`)
})

onAll(
  'the lock is had or whoever has it is named; a guard of a dead run is no obstacle, and a failed run leaves none',
  async ({ host, apply, fails }) => {
    await host.must(
      `systemd-run --quiet --unit=holder flock ${lock} sleep 600 && while flock -n ${lock} true; do sleep 0.1; done`,
    )
    expect((await fails(hold)).detail).toMatch(/\/run\/toy\.lock is held by process \d+ \(flock, holder\.service\)/)
    await host.must('systemctl stop holder')
    const describe = 'systemctl show -p Description --value drover-guard.service'
    for (const run of [await apply(hold), await apply(hold)]) expect(run).toMatch(/^core-/)
    const last = await apply(hold)
    expect(await host.must(describe)).toBe(`drover run ${last} by e2e@lab`)
    expect((await host.sh(`flock -n ${lock} true`)).code).toBe(1)
    await fails(hold, never)
    expect(await traces(host)).toBe('')
  },
)

onAll(
  'only changes that came to their end are proved, and only while what they started has not been started again',
  async ({ host, apply, fails, look }) => {
    const isProved = async () => armedOf((await look()).self)?.isProved
    await fails(hold, arm(600_000), toGreen, restart, upFrom(slots.green), never)
    const failed = (await host.must('cat /var/lib/drover/armed/owner')).split(' ')[0] ?? ''
    expect(await isProved()).toBe(false)
    expect(await fireNow(host, failed)).toMatchObject({ code: 0 })
    const run = await apply(hold, arm(600_000), toGreen, restart, upFrom(slots.green))
    expect(await isProved()).toBe(true)
    await host.must('systemctl restart toy.service')
    expect(await isProved()).toBe(false)
    expect(await fireNow(host, run)).toMatchObject({ code: 0 })
  },
)

onAll(
  'who starts multi-user.target has not asked for it, and takes nothing from the deadline',
  async ({ host, apply }) => {
    const run = await apply(hold, arm(20_000), toGreen, restart, upFrom(slots.green))
    await host.must('systemctl start multi-user.target drover-rollback.service')
    expect([await runsFrom(host), await host.must('ls /var/lib/drover')]).toEqual([slots.green, 'armed'])
    const [who, , , how] = await untilRolledBack(host)
    expect([who, how, await runsFrom(host)]).toEqual([run, 'rolled-back', slots.blue])
  },
)

onAll('a unit that the candidate wrote anew is put back, and loaded', async ({ host, apply }) => {
  const before = await host.must(`cat ${unitFile}`)
  const writes: Change = { ...restart, spoils: [`path:${unitFile}`] }
  const run = await apply(hold, arm(600_000), toGreen, writes, upFrom(slots.green))
  await host.must(`sed -i 's|^ExecStart=.*|& --of-the-new-one|' ${unitFile} && systemctl daemon-reload`)
  expect(await fireNow(host, run)).toMatchObject({ code: 0 })
  expect([await runsFrom(host), await host.must(`cat ${unitFile}`)]).toEqual([slots.blue, before])
})

onAll('where it cannot even be begun it is tried again', async ({ host, apply }) => {
  const run = await apply(hold, arm(600_000), toGreen, restart, upFrom(slots.green))
  await host.must('cd /var/lib/drover && mount --bind . . && mount -o remount,bind,ro /var/lib/drover')
  expect(await fireNow(host, run, 3)).toMatchObject({ code: 6 })
  expect(await runsFrom(host)).toBe(slots.green)
  // An attempt may just be at it there.
  await host.must('umount -l /var/lib/drover')
  const [who, , , how] = await untilRolledBack(host)
  expect([who, how, await runsFrom(host)]).toEqual([run, 'rolled-back', slots.blue])
})

onAll(
  'an attempt that was cut is gone on with: what has been put back is not judged again',
  async ({ host, apply }) => {
    // The second is what a full disk left of the note.
    for (const note of ['0', '']) {
      const run = await apply(hold, arm(600_000), toGreen, restart, upFrom(slots.green))
      await host.must(
        `cd /var/lib/drover/armed && ln -sfn ${slots.blue} ${current} && mkdir ${root} && touch back && printf %s "$1" >before.2`,
        [note],
      )
      const { code, stdout } = await fireNow(host, run)
      await host.must(`rmdir ${root}`)
      expect([code, stdout.split(' ')[3], await runsFrom(host)], note).toEqual([0, 'rolled-back', slots.blue])
    }
  },
)

/** How the toy starts, from now on. */
const starts = (host: LabHost, lines: string): Promise<string> =>
  host.must(
    `mkdir -p ${unitFile}.d && printf '[Service]\n%b' "$1" >${unitFile}.d/start.conf && systemctl daemon-reload && systemctl reset-failed`,
    [lines],
  )
const startsWell = (host: LabHost): Promise<string> =>
  host.must(`rm ${unitFile}.d/start.conf && systemctl daemon-reload && systemctl restart toy.service`)

onAll('what was not steady before is started again, and that is all', async ({ host, apply }) => {
  await starts(
    host,
    `Restart=always\nRestartSec=2s\nExecStart=\nExecStart=/bin/sh -c '[ "$(readlink ${current})" = ${slots.green} ] && exec ${slots.green} infinity'\n`,
  )
  await host.must('systemctl restart toy.service; while systemctl is-active --quiet toy.service; do sleep 0.1; done')
  expect((await host.unit(toy)).ActiveState).toBe('activating')
  const run = await apply(hold, arm(600_000), toGreen, restart, upFrom(slots.green))
  expect(await fireNow(host, run)).toMatchObject({ code: 0, stdout: expect.stringContaining(' rolled-back ') })
  expect(await traces(host)).toBe('')
  expect((await host.sh('readlink "/proc/$(systemctl show -p MainPID --value toy.service)/exe"')).stdout).not.toContain(
    slots.green,
  )
  await startsWell(host)
})

onAll('what had failed before ends as at a boot', async ({ host, apply }) => {
  await host.must(
    'systemctl kill -s KILL toy.service; while systemctl is-active --quiet toy.service; do sleep 0.1; done',
  )
  expect((await host.unit(toy)).ActiveState).toBe('failed')
  const start: Change = { kind: 'systemctl', verb: 'start', unit: toy }
  const run = await apply(hold, arm(600_000), toGreen, start, upFrom(slots.green))
  expect(await fireNow(host, run)).toMatchObject({ code: 0 })
  await until('the service', 10_000, async () => ((await runsFrom(host)) === slots.blue ? true : undefined))
})

onAll('an end for what does not stay up with everything back, and it is told as that', async ({ host, apply }) => {
  const run = await apply(hold, arm(600_000), toGreen, restart, upFrom(slots.green))
  await starts(host, `ExecStart=\nExecStart=/bin/false\n`)
  await settleFor(host, 1, 'ATTEMPTS=3')
  const { code, stdout } = await fireNow(host, run)
  expect([code, stdout.split(' ').slice(0, 4)]).toEqual([
    4,
    [run, 'e2e@lab', expect.stringMatching(/^20/), 'rolled-back-not-up'],
  ])
  expect(await host.must(`readlink ${current}`)).toBe(slots.blue)
  expect(await traces(host)).toBe('')
  await settleFor(host, 1)
  await startsWell(host)
})

onAll('nothing is armed where the lock has been let go meanwhile', async ({ host, fails }) => {
  const ends: Change = {
    kind: 'await',
    condition: { command: ['systemctl', 'stop', 'drover-guard.service'], is: 'succeeding', timeoutS: 10 },
    withinMs: 0,
    stableMs: 0,
  }
  expect((await fails(hold, ends, arm(600_000), toGreen)).detail).toContain('the lock is not held any more')
  expect([await host.must(`readlink ${current}`), await traces(host)]).toEqual([slots.blue, ''])
})

onAll('a run that is dead when its apply fails holds no lock', async ({ host, apply, reopen }) => {
  const sleeps: Change = {
    kind: 'await',
    condition: { command: ['sleep', '90'], is: 'succeeding', timeoutS: 90 },
    withinMs: 0,
    stableMs: 0,
  }
  const dead = apply(hold, sleeps).catch(() => 'dead')
  await until('the guard', 30_000, async () =>
    (await host.sh('systemctl is-active drover-guard.service drover-apply.service')).code === 0 ? true : undefined,
  )
  await reopen()
  expect(await dead).toBe('dead')
  await host.must('systemctl stop drover-apply.service')
  expect(await traces(host)).toBe('')
})

test('where reset-failed is denied and the start limit is used up, the host is back when its window has passed', async () => {
  const { host, apply } = await open('acl-like')
  await host.must(
    `mkdir -p /etc/systemd/system/toy.service.d && printf '[Unit]\nStartLimitIntervalSec=20\nStartLimitBurst=3\n' >/etc/systemd/system/toy.service.d/limit.conf && systemctl daemon-reload`,
  )
  const run = await apply(hold, arm(600_000), toGreen, restart, upFrom(slots.green))
  await host.must('while systemctl restart toy.service; do :; done')
  const { code, stdout } = await fireNow(host, run)
  expect([code, stdout.split(' ')[3]]).toEqual([0, 'rolled-back'])
  expect(stdout).toContain('ActiveState=failed')
  expect(await runsFrom(host)).toBe(slots.blue)
  expect(await traces(host)).toBe('')
})

/** Without those that no task may plan in a guarded group: a link where a file is, a file where a link is. */
const possible = (wanted: readonly Change[]): Change[] => {
  const kinds = new Map([
    [conf, 'file'],
    [slots.green, 'file'],
    [current, 'link'],
  ])
  return wanted.filter((change) => {
    if (change.kind !== 'write' && change.kind !== 'link' && change.kind !== 'remove') return false
    const kind = kinds.get(change.path)
    const wants = change.kind === 'write' ? 'file' : 'link'
    if (change.kind === 'remove' ? kind === undefined : kind !== undefined && kind !== wants) return false
    if (change.kind === 'remove') kinds.delete(change.path)
    else kinds.set(change.path, wants)
    return true
  })
}

/** As somebody who asks for it, and does not wait. */
const fires = 'touch /var/lib/drover/armed/now && systemctl start --no-block drover-rollback.service'

/** Ends an apply there. */
const never: Change = {
  kind: 'await',
  condition: { command: ['false'], is: 'succeeding', timeoutS: 5 },
  withinMs: 0,
  stableMs: 0,
}

const startsOf = async (host: LabHost): Promise<string[]> => (await host.must('cat /srv/toy/started')).split('\n')

const write = (path: string, content: string): Change => ({
  kind: 'write',
  path,
  content,
  mode: 0o644,
  owner: 'root:root',
})

const settleFor = (host: LabHost, seconds: number, more = ''): Promise<string> =>
  host.must(
    `printf '[Service]\nRestartSec=1s\nEnvironment=SETTLE_S=%s %s\n' "$1" "$2" >/etc/systemd/system/drover-rollback.service.d/fast.conf && systemctl daemon-reload`,
    [String(seconds), more],
  )
