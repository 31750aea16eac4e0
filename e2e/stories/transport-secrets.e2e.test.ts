import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type DroverEnd, startDrover } from '../support/drover.ts'
import { formsOf, plant, type Search, searchFiles, searchHost, searchText, watchHost } from '../support/planted.ts'
import { file, writePlaybook } from '../support/playbook.ts'
import { addUser, hostsFile, knowPort, startSshd } from '../support/sshd.ts'

/** Story: five planted secrets go where they are needed, and are found nowhere else, on either end, in any encoding. */

const secrets = {
  login: plant('login'),
  sudo: plant('sudo'),
  fromEnv: plant('fromenv'),
  fromFile: plant('fromfile'),
  fromProgram: plant('fromprogram'),
}
const wrong = plant('wrong')
const forms = [...Object.values(secrets), wrong].flatMap(formsOf)

let lab: Lab
let host: LabHost
/** What drover is told to write its secrets to. */
const targets = ['/etc/story-env', '/etc/story-file', '/etc/story-program']

beforeAll(async () => {
  lab = await openLab('transport-secrets', { yes: true })
  host = await lab.boot({ name: 'kept', image: 'ubuntu-like' })
  await addUser(lab, host, { name: 'pat', password: secrets.login, keys: [], sudoers: ['NAME ALL=(ALL) ALL'] })
  // Root's own password is what sudo asks for, so that the two differ.
  await host.put('/etc/sudoers.d/zz-root', 'Defaults:pat rootpw\n', '0440')
  await host.must('printf "root:%s\\n" "$(cat)" | chpasswd', [], { stdin: secrets.sudo })
  await startSshd(host, { port: 2222, lines: ['PasswordAuthentication yes', 'PubkeyAuthentication no'] })
  await knowPort(lab, host, 2222)
  mkdirSync(join(lab.folder, 'private'), { mode: 0o700 })
  writeFileSync(join(lab.folder, 'private', 'file'), secrets.fromFile, { mode: 0o600 })
  writeFileSync(join(lab.folder, 'private', 'program'), secrets.fromProgram, { mode: 0o600 })
})

afterAll(() => lab?.close())

const env = { STORY_LOGIN: secrets.login, DROVER_BECOME_PASSWORD: secrets.sudo, STORY_ENV: secrets.fromEnv }

const inventory = (transport: string, login = 'STORY_LOGIN'): string => {
  const kept = { address: host.address, port: 2222, user: 'pat', become: true, password: { secret: { env: login } } }
  return hostsFile(lab, 'secrets', { kept }, { transport, identity_file: [] })
}

const vars = {
  vars: {
    one: { secret: { env: 'STORY_ENV' } },
    two: { secret: { file: 'private/file' } },
    three: { secret: { command: ['cat', 'private/program'] } },
  },
}
const writes = targets.map((target, index) =>
  file(`secret ${index}`, target, ['${one}', '${two}', '${three}'][index] ?? ''),
)
/** A command that repeats what it finds: at once, in two pieces, and in other encodings; and then fails. */
const tells = {
  name: 'tells all',
  task: 'command',
  with: {
    argv: [
      'sh',
      '-c',
      'for f; do cat "$f"; echo; base64 "$f"; base64 -w0 "$f"; echo; head -c 12 "$f"; sleep 0.3; tail -c +13 "$f"; echo; done; cat "$@" >&2; exit 3',
      'tells',
      ...targets,
    ],
    creates: '/nowhere',
  },
}

/** Processes of this machine while drover runs, as other users see them: arguments alone. */
const watchHere = (): { stop(): string } => {
  let seen = ''
  const ps = spawn('sh', ['-c', 'while :; do ps -eo args; sleep 0.05; done'])
  ps.stdout.on('data', (text: Buffer) => {
    seen += text.toString('latin1')
  })
  return {
    stop: () => {
      ps.kill('SIGKILL')
      return seen
    },
  }
}

describe.each(['ssh2', 'openssh'])('by %s', (transport) => {
  const runs = [
    ['written', writes, 'STORY_LOGIN', env, 'changed'],
    ['told by a command that fails', [...writes, tells], 'STORY_LOGIN', env, 'failed'],
    ['a wrong login password', writes, 'STORY_WRONG', { ...env, STORY_WRONG: wrong }, 'unreachable'],
    ['a wrong sudo password', writes, 'STORY_LOGIN', { ...env, DROVER_BECOME_PASSWORD: wrong }, 'failed'],
  ] as const

  test('searched everywhere, found nowhere', async () => {
    const search: Search = { places: 0, found: [] }
    const ends: DroverEnd[] = []
    const onHost = watchHost(host)
    const here = watchHere()
    await host.must('rm -f "$@"', targets)
    for (const [name, steps, login, given, outcome] of runs) {
      const playbook = writePlaybook(lab, 'secrets', steps, vars)
      const log = join(lab.folder, `${transport}.log`)
      const args = ['run', playbook, '-vvv', '--diff', '--log-file', log]
      const process = startDrover(lab, args, { env: given, inventory: inventory(transport, login) })
      const end = await process.ended
      ends.push(end)
      expect(end.host('kept').outcome, `${name}: ${end.stdout}${end.stderr}`).toBe(outcome)
      searchText(search, `${name}: the screen`, end.stdout + end.stderr, forms)
    }
    searchText(search, 'processes here', here.stop(), forms)
    searchText(search, 'processes on the host', await onHost.stop(), forms)
    searchFiles(search, join(lab.folder, 'runs'), forms)
    for (const name of readdirSync(lab.folder, { withFileTypes: true }))
      if (name.isFile()) searchText(search, name.name, readFileSync(join(lab.folder, name.name), 'latin1'), forms)
    // What the host is to hold: the files, and what PAM made of the passwords (hashes).
    await searchHost(search, host, forms, targets)
    for (const { directory } of ends)
      for (const each of readdirSync(directory ?? '', { recursive: true, encoding: 'utf8' }))
        expect(statSync(join(directory ?? '', each)).mode & 0o077, each).toBe(0)
    expect(search.found).toEqual([])
    for (const target of targets) expect(await host.must('stat -c "%a %U" "$1"', [target])).toBe('600 root')
    process.stdout.write(`secrets by ${transport}: searched ${search.places} places, ${search.found.length} found\n`)
    expect(search.places).toBeGreaterThan(200)
  })
})

test('the search finds what is there', async () => {
  const search: Search = { places: 0, found: [] }
  await searchHost(search, host, forms, [])
  expect(new Set(search.found)).toEqual(new Set(targets.map((target) => `kept ${target}`)))
  for (const text of [
    secrets.login,
    JSON.stringify(secrets.sudo),
    Buffer.from(`x${secrets.fromEnv}`).toString('base64'),
  ])
    searchText(search, 'planted', text, forms)
  expect(search.found.filter((found) => found.startsWith('planted')).length).toBeGreaterThanOrEqual(3)
})
