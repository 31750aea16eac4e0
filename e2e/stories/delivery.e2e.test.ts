import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../src/inventory/host.ts'
import { Secret } from '../../src/secret.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { inventoryHost } from '../support/core.ts'
import { artifactOf, type Copy, type Delivery, deliverTo, type Upload } from '../support/delivery.ts'
import { addUsers } from '../support/sshd.ts'
import { cut, loseIts, mend, type TransportName } from '../support/wire.ts'

/** Story: files of the size of an agent get to hosts whole, once, in few bytes, whatever happens on the way. */

const mb = 1_000_000
const password = new Secret('delivery-password')

let lab: Lab
/** Has zstd. */
let modern: LabHost
/** Has nothing but gzip. */
let plain: LabHost

beforeAll(async () => {
  lab = await openLab('delivery', { yes: true })
  const boot = (name: string, image: 'ubuntu-like-shells' | 'rhel9-like') => lab.boot({ name, image })
  ;[modern, plain] = await Promise.all([boot('modern', 'ubuntu-like-shells'), boot('plain', 'rhel9-like')])
  await addUsers(lab, plain, [{ name: 'ops', password: password.reveal(), sudoers: ['NAME ALL=(ALL) ALL'] }])
}, 300_000)

afterAll(() => lab?.close())

const bytesOf = (megabytes: number): Buffer => randomBytes(megabytes * mb)

/** Words that repeat, as in a program, and none that zstd or gzip would make nothing of. */
const compressible = (megabytes: number): Buffer => Buffer.from(randomBytes((megabytes * mb) / 2).toString('hex'))

const upload = (bytes: Uint8Array, path: string, more: Partial<Upload> = {}): Upload => ({
  kind: 'upload',
  path,
  artifact: artifactOf(lab, bytes),
  mode: 0o755,
  owner: 'root:root',
  ...more,
})

const over = (host: LabHost, transport: TransportName): Host => ({ ...inventoryHost(lab, host), transport })

/** A dead connection is noticed by the transport's keepalive; here sooner than in life. */
const quick = { keepalive: { intervalMs: 1000, countMax: 2 } }

const digest = (host: LabHost, path: string): Promise<string> => host.must('sha256sum <"$1" | cut -c 1-64', [path])

/** Everything of drover's that is left below a directory. */
const leftovers = (host: LabHost): Promise<string> => host.must('find / -xdev -name ".drover*" -not -path "/proc/*"')

const sentOf = ({ uploads }: Delivery): number => uploads.reduce((sum, { sent }) => sum + sent, 0)

const waitForPart = (host: LabHost, { artifact }: Upload, directory: string, bytes: number): Promise<unknown> =>
  host.must('until [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; do sleep 0.02; done', [
    `${directory}/.drover-${artifact.sha256}.part`,
    String(bytes),
  ])

describe.each(['ssh2', 'openssh'] as const)('over %s', (transport) => {
  test('a first upload, into directories that are still to be made, and then nothing more', async () => {
    const wanted = upload(compressible(20), `/opt/${transport}/lib/agent`)
    const directories = [`/opt/${transport}`, `/opt/${transport}/lib`]
    for (const host of [modern, plain]) {
      const first = await deliverTo(lab, over(host, transport), [wanted], { directories })
      expect(first.end, host.name).toMatchObject({ outcome: 'changed', changes: 3 })
      expect(first.uploads).toMatchObject([{ bytes: 20 * mb, how: 'whole' }])
      expect(sentOf(first), host.name).toBeLessThan(13 * mb)
      expect(await digest(host, wanted.path)).toBe(wanted.artifact.sha256)
      expect(await host.must('stat -c "%a %U:%G" "$1"', [wanted.path])).toBe('755 root:root')
      const again = await deliverTo(lab, over(host, transport), [wanted], { directories })
      expect(again.end).toMatchObject({ outcome: 'unchanged' })
      expect(again.uploads).toEqual([])
      expect(again.events.filter(({ type }) => type === 'exec')).toHaveLength(1)
      expect(await leftovers(host)).toBe('')
    }
  })

  test.each(['KILL', 'lost'] as const)(
    'a connection that is cut (%s) is taken up again, and hardly anything is sent twice',
    async (how) => {
      const path = `/srv/cut-${transport}-${how}`
      const wanted = upload(bytesOf(24), path)
      const running = deliverTo(lab, { ...over(modern, transport), ...(how === 'lost' && quick) }, [wanted], {
        bytesPerS: 8 * mb,
      })
      await waitForPart(modern, wanted, '/srv', 10 * mb)
      await (how === 'KILL' ? cut(modern) : loseIts(modern))
      try {
        const delivery = await running
        expect(delivery.end).toMatchObject({ outcome: 'changed' })
        expect(delivery.events.map(({ type }) => type)).toContain('host-reconnected')
        expect(delivery.uploads).toMatchObject([{ how: 'resumed', bytes: 24 * mb }])
        expect(sentOf(delivery)).toBeGreaterThanOrEqual(24 * mb)
        expect(sentOf(delivery)).toBeLessThanOrEqual(24 * mb * 1.05)
        expect(await digest(modern, path)).toBe(wanted.artifact.sha256)
        expect(await leftovers(modern)).toBe('')
      } finally {
        if (how === 'lost') await mend(modern)
      }
    },
  )

  test('one that travels compressed is taken up again, too, by zstd and by gzip', async () => {
    const bytes = compressible(24)
    for (const host of [modern, plain]) {
      const path = `/srv/compressed-${transport}`
      const whole = sentOf(await deliverTo(lab, over(host, transport), [upload(bytes, `${path}-whole`)]))
      expect(whole, host.name).toBeLessThan(16 * mb)
      const wanted = upload(bytes, path)
      const running = deliverTo(lab, over(host, transport), [wanted], { bytesPerS: 6 * mb })
      await waitForPart(host, wanted, '/srv', 10 * mb)
      await cut(host)
      const delivery = await running
      expect(delivery.uploads).toMatchObject([{ how: 'resumed' }])
      expect(sentOf(delivery), host.name).toBeLessThanOrEqual(whole * 1.05)
      expect(await digest(host, path)).toBe(wanted.artifact.sha256)
      expect(await leftovers(host)).toBe('')
    }
  })

  test('with sudo that wants a password', async () => {
    const wanted = upload(bytesOf(5), `/usr/local/bin/with-sudo-${transport}`)
    const host: Host = { ...over(plain, transport), user: 'ops', become: true }
    expect((await deliverTo(lab, host, [wanted], { password })).end).toMatchObject({ outcome: 'changed' })
    expect(await digest(plain, wanted.path)).toBe(wanted.artifact.sha256)
  })
})

describe('of two builds that are much alike', () => {
  const before = bytesOf(24)
  const after = Buffer.concat([before.subarray(0, 9 * mb), bytesOf(1), before.subarray(9 * mb)])

  test.each(['ssh2', 'openssh'] as const)(
    'only the difference travels, over %s, also when it is cut',
    async (transport) => {
      const [old, path] = [upload(before, '/srv/old'), `/srv/new-${transport}`]
      await deliverTo(lab, over(modern, 'ssh2'), [old])
      const base = { path: '/srv/old', sha256: old.artifact.sha256 }
      const wanted = upload(after, path, { base })
      const baseOf = async (sha256: string) => (sha256 === base.sha256 ? old.artifact : null)
      const delivery = await deliverTo(lab, over(modern, transport), [wanted], { baseOf })
      expect(delivery.uploads).toMatchObject([{ how: 'delta', bytes: 25 * mb }])
      expect(sentOf(delivery)).toBeLessThan(1.2 * mb)
      expect(await digest(modern, path)).toBe(wanted.artifact.sha256)

      const slowly = upload(after, `${path}-slowly`, { base })
      const running = deliverTo(lab, over(modern, transport), [slowly], { baseOf, bytesPerS: mb / 2 })
      await waitForPart(modern, slowly, '/srv', 9 * mb)
      await cut(modern)
      const resumed = await running
      expect(resumed.end).toMatchObject({ outcome: 'changed' })
      expect(sentOf(resumed)).toBeLessThan(1.5 * mb)
      expect(await digest(modern, slowly.path)).toBe(wanted.artifact.sha256)
      expect(await leftovers(modern)).toBe('')
    },
  )

  test('a base that this workstation knows wrongly, or the host has not, is no hindrance', async () => {
    const old = upload(before, '/srv/old')
    await deliverTo(lab, over(modern, 'ssh2'), [old])
    const base = { path: '/srv/old', sha256: old.artifact.sha256 }
    const other = artifactOf(lab, bytesOf(24))
    const wrong = upload(after, '/srv/wrong', { base })
    expect(
      (await deliverTo(lab, over(modern, 'ssh2'), [wrong], { baseOf: async () => ({ ...other }) })).end,
    ).toMatchObject({
      outcome: 'changed',
    })
    const none = upload(after, '/srv/none', { base: { ...base, path: '/srv/missing' } })
    expect(
      (await deliverTo(lab, over(modern, 'ssh2'), [none], { baseOf: async () => old.artifact })).uploads,
    ).toMatchObject([{ how: 'whole' }])
    for (const path of ['/srv/wrong', '/srv/none']) expect(await digest(modern, path)).toBe(wrong.artifact.sha256)
  })

  test('a zstd that fails is no hindrance', async () => {
    await modern.must('printf "#!/bin/sh\\nexit 1\\n" >/usr/local/sbin/zstd && chmod 755 /usr/local/sbin/zstd')
    try {
      const wanted = upload(compressible(5), '/srv/broken-zstd')
      expect((await deliverTo(lab, over(modern, 'ssh2'), [wanted])).end).toMatchObject({ outcome: 'changed' })
      expect(await digest(modern, wanted.path)).toBe(wanted.artifact.sha256)
    } finally {
      await modern.must('rm /usr/local/sbin/zstd')
    }
  })
})

test('a program that runs is replaced while it runs', async () => {
  await plain.must('cp /bin/sleep /usr/local/bin/busy && systemd-run --quiet --unit=busy /usr/local/bin/busy 600')
  const program = await plain.must('base64 -w0 /bin/echo')
  const wanted = upload(Buffer.from(program, 'base64'), '/usr/local/bin/busy')
  expect((await deliverTo(lab, over(plain, 'ssh2'), [wanted])).end).toMatchObject({ outcome: 'changed' })
  expect(await plain.must('/usr/local/bin/busy new')).toBe('new')
  expect(
    await plain.must(
      'systemctl is-active busy.service; readlink /proc/$(systemctl show -p MainPID --value busy.service)/exe',
    ),
  ).toBe('active\n/usr/local/bin/busy (deleted)')
  await plain.must('systemctl stop busy.service')
})

test('a file of the host is copied whole or not at all', async () => {
  const wanted = upload(bytesOf(5), '/srv/original')
  const copy: Copy = {
    kind: 'copy',
    from: '/srv/link-to-it',
    sha256: wanted.artifact.sha256,
    size: wanted.artifact.size,
    path: '/srv/copy',
    mode: 0o700,
    owner: 'root:root',
  }
  await plain.must('ln -s original /srv/link-to-it; echo before >/srv/copy')
  expect((await deliverTo(lab, over(plain, 'ssh2'), [wanted], { copies: [copy] })).end).toMatchObject({
    outcome: 'changed',
  })
  expect(await digest(plain, '/srv/copy')).toBe(copy.sha256)
  expect(await plain.must('stat -c "%F %a" /srv/copy')).toBe('regular file 700')
  await plain.must('echo before >/srv/copy; echo more >>/srv/original')
  const refused = await deliverTo(lab, over(plain, 'ssh2'), [], { copies: [copy] })
  expect(refused.end).toMatchObject({
    outcome: 'failed',
    error: { code: 'change-failed', detail: expect.stringContaining('another content') },
  })
  expect(await plain.must('cat /srv/copy')).toBe('before')
  expect(await leftovers(plain)).toBe('')
})

test('what somebody does to a staged file comes to nothing, and the next run brings it anew', async () => {
  const wanted = upload(bytesOf(5), '/srv/tampered')
  const staged = `/srv/.drover-${wanted.artifact.sha256}`
  const meanwhile = () => plain.must('echo x >>"$1"', [staged])
  const refused = await deliverTo(lab, over(plain, 'ssh2'), [wanted], { meanwhile })
  expect(refused.end).toMatchObject({
    outcome: 'failed',
    error: { code: 'change-failed', detail: expect.stringContaining('has another content now') },
  })
  expect(await plain.must('ls -A /srv | grep tampered || :')).toBe('')
  expect((await deliverTo(lab, over(plain, 'ssh2'), [wanted])).end).toMatchObject({ outcome: 'changed' })
  expect(await digest(plain, wanted.path)).toBe(wanted.artifact.sha256)
})

test('a file that had to wait on another disk gets to its place whole', async () => {
  const wanted = upload(bytesOf(5), '/srv/later/agent')
  // The disk is there only when the file has been brought.
  const meanwhile = () => plain.must('mkdir /srv/later && mount -t tmpfs lab /srv/later')
  try {
    expect((await deliverTo(lab, over(plain, 'ssh2'), [wanted], { meanwhile })).end).toMatchObject({
      outcome: 'changed',
    })
    expect(await digest(plain, wanted.path)).toBe(wanted.artifact.sha256)
    expect(await leftovers(plain)).toBe('')
  } finally {
    await plain.must('umount -l /srv/later')
  }
})

test.each(['size=1m', 'nr_inodes=1'])('a disk that turns out too small (%s) is told as such', async (options) => {
  const wanted = upload(bytesOf(5), '/srv/small/agent')
  const meanwhile = () => plain.must(`mkdir -p /srv/small && mount -t tmpfs -o ${options} lab /srv/small`)
  try {
    expect((await deliverTo(lab, over(plain, 'ssh2'), [wanted], { meanwhile })).end).toMatchObject({
      outcome: 'failed',
      error: { code: 'no-space', detail: expect.stringContaining('No space left on device') },
    })
    expect(await plain.must('ls -A /srv/small')).toBe('')
  } finally {
    await plain.must('umount -l /srv/small; rmdir /srv/small; rm -f /srv/.drover-*')
  }
})

test('a directory of somebody else gets its file from one that is not', async () => {
  await plain.must('mkdir /srv/given && chown ops /srv/given')
  const wanted = upload(bytesOf(5), '/srv/given/lib/agent')
  const staged = `/srv/.drover-${wanted.artifact.sha256}`
  const meanwhile = () => plain.must('test -f "$1"', [staged])
  const delivery = await deliverTo(lab, over(plain, 'ssh2'), [wanted], { directories: ['/srv/given/lib'], meanwhile })
  expect(delivery.end).toMatchObject({ outcome: 'changed' })
  expect(await digest(plain, wanted.path)).toBe(wanted.artifact.sha256)
  expect(await leftovers(plain)).toBe('')
})

/** A small file system over a directory. */
const mounted = (options: string, then = ''): string =>
  `mkdir -p /srv/odd && mount -t tmpfs -o mode=755,${options} lab /srv/odd${then}`

test.each([
  ['too little room', mounted('size=4m'), 'no-space', /free, and 6\.0 MB are needed/],
  ['no inode', mounted('size=64m,nr_inodes=2', '; : >/srv/odd/only'), 'no-space', /0 inodes free/],
  ['a read-only disk', mounted('ro'), 'precondition-unmet', /mounted read-only/],
  ['a disk that nothing may be run from', mounted('noexec'), 'precondition-unmet', /mounted noexec/],
  [
    'a directory where others may put something else in its place',
    mounted('mode=1777'),
    'precondition-unmet',
    /\/srv\/odd \(owner root, mode 1777\)/,
  ],
])('%s is found out before the first byte', async (_what, make, code, says) => {
  await plain.must(make)
  try {
    const wanted = upload(bytesOf(5), '/srv/odd/lib/agent')
    for (const transport of ['ssh2', 'openssh'] as const) {
      const delivery = await deliverTo(lab, over(plain, transport), [wanted], { directories: ['/srv/odd/lib'] })
      expect(delivery.end).toMatchObject({
        outcome: 'failed',
        changes: 0,
        error: { code, message: expect.stringMatching(says) },
      })
      expect(delivery.events.filter((event) => event.type === 'exec').map(({ verb }) => verb)).toEqual([
        'inspect',
        'upload',
      ])
      expect(await plain.must('ls -A /srv/odd | grep -v -x only || :')).toBe('')
    }
  } finally {
    await plain.must('umount -l /srv/odd')
  }
})

test('a disk that others fill meanwhile is not left full by us', async () => {
  await plain.must(mounted('size=16m'))
  try {
    const wanted = upload(bytesOf(8), '/srv/odd/agent')
    const running = deliverTo(lab, over(plain, 'ssh2'), [wanted], { bytesPerS: 2 * mb })
    await waitForPart(plain, wanted, '/srv/odd', mb)
    await plain.must('cat /dev/zero >/srv/odd/filling 2>/dev/null || :')
    expect((await running).end).toMatchObject({ outcome: 'failed', error: { code: 'no-space' } })
    expect(await plain.must('ls -A /srv/odd')).toBe('filling')
  } finally {
    await plain.must('umount -l /srv/odd')
  }
})

test('two drovers at once: one is told of the other, and the file is whole', async () => {
  const wanted = upload(bytesOf(12), '/srv/two')
  const first = deliverTo(lab, over(plain, 'ssh2'), [wanted], { bytesPerS: 3 * mb })
  await waitForPart(plain, wanted, '/srv', mb)
  expect((await deliverTo(lab, over(plain, 'ssh2'), [wanted])).end).toMatchObject({
    outcome: 'blocked',
    error: { code: 'locked', message: expect.stringContaining('run delivery-') },
  })
  expect((await first).end).toMatchObject({ outcome: 'changed' })
  expect(await digest(plain, '/srv/two')).toBe(wanted.artifact.sha256)
})

test('what an interrupted run brought is gone on with by the next, and what nobody wants any more is removed', async () => {
  const wanted = upload(bytesOf(12), '/srv/interrupted')
  const stop = new AbortController()
  const running = deliverTo(lab, over(plain, 'ssh2'), [wanted], { bytesPerS: 4 * mb, stop: stop.signal })
  await waitForPart(plain, wanted, '/srv', 4 * mb)
  stop.abort()
  const interrupted = await running
  expect(interrupted.end).toMatchObject({ outcome: 'cancelled', changes: 0 })
  const resumed = await deliverTo(lab, over(plain, 'ssh2'), [wanted])
  expect(resumed.uploads).toMatchObject([{ how: 'resumed' }])
  expect(sentOf(resumed)).toBeLessThanOrEqual(8 * mb)
  await plain.must('rm /srv/interrupted; : >/srv/.drover-"$1".part; : >/srv/.drover-"$1"', ['0'.repeat(64)])
  const swept = await deliverTo(lab, over(plain, 'ssh2'), [wanted])
  expect(swept.end).toMatchObject({ outcome: 'changed', changes: 3 })
  expect(
    await until('nothing to be left', 5000, async () => ((await leftovers(plain)) === '' ? 'nothing' : undefined)),
  ).toBe('nothing')
})
