import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type DroverEnd, drover, startDrover } from '../support/drover.ts'
import { file, slow, writePlaybook } from '../support/playbook.ts'

/** Story: a secret goes from a variable into one file on the host, and is nowhere else (rules.md E2, E3). */

/** Every byte that a shell, a printf or a YAML might treat as its own; the core is what is searched for. */
const core = 'Xq7-core-of-the-secret-9Zk'
const secret = `first line '"\\ $HOME \`id\` %s %% \${token}\n${core}\ttab é €\n\n`
const path = '/etc/story-secret'

let lab: Lab
let rhel: LabHost
let acl: LabHost

beforeAll(async () => {
  lab = await openLab('secrets', { yes: true })
  ;[rhel, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like' }),
    lab.boot({ name: 'acl3', image: 'acl-like' }),
  ])
})

afterAll(() => lab?.close())

const vars = { vars: { token: { secret: { env: 'STORY_TOKEN' } } } }
const playbook = (seconds: number): string =>
  writePlaybook(lab, 'secret', [file('the secret', path, '${token}'), slow(seconds, '/run/story-secret')], vars)

/** The core as it is, and as base64 has it at each of the three places where it may begin. */
const forms = [
  core,
  ...[0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), Buffer.from(core)])
      .toString('base64')
      .slice(4, 28),
  ),
]

const holds = (text: string): boolean => forms.some((form) => text.includes(form))

const filesOf = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const expectNowhereHere = (run: DroverEnd): void => {
  expect(holds(run.stdout + run.stderr)).toBe(false)
  const files = filesOf(run.directory ?? '')
  expect(files.length).toBeGreaterThan(3)
  for (const name of files) {
    expect(holds(readFileSync(name, 'latin1')), name).toBe(false)
    expect(statSync(name).mode & 0o077, name).toBe(0)
  }
}

/** Every file of the host that holds the secret, and whether its journal does in any field. */
const placesOn = (host: LabHost): Promise<string> =>
  host.must(
    `export LC_ALL=C; printf '%s\\n' "$@" >/dev/shm/forms
     grep -rlFD skip -f /dev/shm/forms /etc /home /opt /root /run /srv /tmp /usr/local /var 2>/dev/null
     journalctl -q -o export --all | grep -aFf /dev/shm/forms | sed 's/^/journal /'; rm /dev/shm/forms`,
    forms,
  )

test('the file arrives 0600 and byte for byte; nobody sees the secret on the way, and nothing keeps it', async () => {
  const log = join(lab.folder, 'secret.log')
  const process = startDrover(lab, ['run', playbook(4), '-vv', '--diff', '--log-file', log], {
    env: { STORY_TOKEN: secret },
  })
  const seen: string[] = []
  const modes = new Set<string>()
  await Promise.all(
    [rhel, acl].map(async (host) => {
      await process.until('change-started', (event) => event.host === host.name && event.step === 'slow')
      for (let look = 0; look < 3; look += 1) {
        seen.push(
          await host.must(
            'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\\0" " "; systemctl show drover-apply.service',
          ),
        )
        for (const mode of (await host.must('find /run/drover -printf "%m %U\\n"')).split('\n')) modes.add(mode)
        await sleep(200)
      }
    }),
  )
  seen.push(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }))
  const run = await process.ended
  expect(run.code, run.stdout + run.stderr).toBe(0)

  for (const text of seen) expect(holds(text)).toBe(false)
  expect([...modes].sort()).toEqual(['600 0', '700 0'])
  for (const host of [rhel, acl]) {
    expect(await host.must('stat -c "%a %U:%G %s" "$1"; sha256sum <"$1"', [path])).toBe(
      `600 root:root ${Buffer.byteLength(secret)}\n${createHash('sha256').update(secret).digest('hex')}  -`,
    )
    expect(await placesOn(host), host.name).toBe(path)
  }
  expect(await acl.must('journalctl -q -o cat -t sudo')).toContain(': drover ')
  expectNowhereHere(run)
  expect(holds(readFileSync(log, 'latin1'))).toBe(false)
  // It can be told apart all the same.
  expect(run.stdout).toContain('content is secret: nothing is known of what is there')
})

test('a second run finds it in place without fetching it, and a new secret replaces it by digest alone', async () => {
  const again = await drover(lab, ['run', playbook(0), '-vv', '--diff'], { env: { STORY_TOKEN: secret } })
  expect(again.report?.totals.unchanged, again.stdout).toBe(2)
  expectNowhereHere(again)
  const other = 'another-secret-0815-of-the-story'
  const changed = await drover(lab, ['run', playbook(0), '-vv', '--diff'], { env: { STORY_TOKEN: other } })
  expect(changed.report?.totals.changed, changed.stdout).toBe(2)
  expectNowhereHere(changed)
  expect(changed.stdout).not.toContain(other)
  expect(changed.stdout).toContain('content is secret: it becomes another')
  for (const host of [rhel, acl]) {
    expect(await host.must('cat "$1"', [path])).toBe(other)
    expect(await placesOn(host), host.name).toBe('')
  }
})

test('a run that is refused, fails or drifts on the way of a secret does not show it either', async () => {
  await rhel.must('rm "$1"; mkdir "$1"', [path])
  const process = startDrover(
    lab,
    [
      'run',
      writePlaybook(lab, 'drift', [slow(3, '/run/story-drift'), file('the secret', path, '${token}')], vars),
      '-vv',
      '--diff',
    ],
    { env: { STORY_TOKEN: secret } },
  )
  await process.until('change-started', (event) => event.host === 'acl3')
  // What somebody else put there is nobody's business either.
  await acl.must('printf %s "$2" >"$1"', [path, `${core} by hand`])
  const run = await process.ended
  expect(run.code, run.stdout + run.stderr).toBe(2)
  expect(run.host('rhel9').error?.code).toBe('path-in-the-way')
  expect(run.host('acl3').error?.code).toBe('drifted')
  expectNowhereHere(run)
  expect(await placesOn(rhel)).toBe('')
  expect(await placesOn(acl)).toBe(path)
})
