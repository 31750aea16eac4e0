import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { summaryOf } from '../../../src/changes/describe.ts'
import { viewOf } from '../../../src/facts/view.ts'
import { deploymentFacts } from '../../../src/tasks/agent/deployment.ts'
import { dropInFile } from '../../../src/tasks/agent/paths.ts'
import { wiring, wiringFacts } from '../../../src/tasks/worker/wiring.ts'
import { runningHost } from '../deployed.ts'
import { hostState } from '../host-state.ts'

const unit = '/etc/systemd/system/aks-flex-node-agent.service'
const facts = [...deploymentFacts(), ...wiringFacts()]

// The question that is put to the host, put here to files of our own.
let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'drover-wiring-'))
})
afterEach(() => rmSync(base, { recursive: true }))

const answers = (files: Readonly<Record<string, string>>): [readonly string[], { code: number; stdout: string }][] => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  return wiringFacts().flatMap((fact) => {
    if (fact.kind !== 'command') return []
    const [program = '', ...words] = fact.argv.map((word) => (word.startsWith('/') ? join(base, word) : word))
    const { status, stdout } = spawnSync(program, words, { encoding: 'utf8' })
    return [[fact.argv, { code: status ?? 127, stdout }]]
  })
}

/** What is missing on a host whose systemd has the dependency loaded. */
const missing = (files: Readonly<Record<string, string>>): readonly string[] => {
  const literal = runningHost({
    units: { 'aks-flex-node-agent.service': { ActiveState: 'active', Wants: 'machines.target' } },
    paths: Object.fromEntries(Object.entries(files).map(([path, file]) => [path, { file }])),
    commands: answers(files),
  })
  const changes = wiring(viewOf(hostState(literal, facts)))
  if ('code' in changes) throw new Error(changes.message)
  return changes.map(summaryOf)
}

const drover = [`write ${dropInFile} (0644 root:root, 29 bytes)`, 'systemctl daemon-reload']
const plain = '[Unit]\nWants=network-online.target\n\n[Service]\nExecStart=/usr/local/bin/agent\n'

describe('what will be loaded at the next boot is there already', () => {
  test.each<[what: string, files: Readonly<Record<string, string>>]>([
    ['in the unit that the agent writes', { [unit]: '[Unit]\nWants=network-online.target machines.target\n' }],
    ['in a second line of it', { [unit]: '[Unit]\nWants=network-online.target\nWants=machines.target\n' }],
    ['in a line that goes on', { [unit]: '[Unit]\nWants=network-online.target \\\n  machines.target\n' }],
    ['with blanks around', { [unit]: '[Unit]\n Wants = machines.target \n' }],
    ['in an operator’s drop-in', { [unit]: plain, [`${unit}.d/10-mine.conf`]: '[Unit]\nWants=machines.target\n' }],
    [
      'in a drop-in of the vendor',
      {
        [unit]: plain,
        '/usr/lib/systemd/system/aks-flex-node-agent.service.d/10-vendor.conf': '[Unit]\nWants=machines.target\n',
      },
    ],
    ['in drover’s own', { [unit]: plain, [dropInFile]: '[Unit]\nWants=machines.target\n' }],
  ])('%s', (_, files) => expect(missing(files)).toEqual([]))
})

describe('it is loaded, and the next boot would not have it', () => {
  test.each<[what: string, files: Readonly<Record<string, string>>]>([
    ['no file says it', { [unit]: plain }],
    ['there is no file at all', {}],
    ['a comment says it', { [unit]: `${plain}# Wants=machines.target\n; Wants=machines.target\n` }],
    ['drover’s own file says something else', { [unit]: plain, [dropInFile]: '[Unit]\n# Wants=machines.target\n' }],
    [
      'a file says it that systemd does not read',
      { [unit]: plain, [`${unit}.d/10-mine.conf.off`]: '[Unit]\nWants=machines.target\n' },
    ],
    ['another unit says it', { [unit]: plain, '/etc/systemd/system/other.service': '[Unit]\nWants=machines.target\n' }],
    [
      'a drop-in says it that is gone by then',
      {
        [unit]: plain,
        '/run/systemd/system/aks-flex-node-agent.service.d/10-mine.conf': '[Unit]\nWants=machines.target\n',
      },
    ],
    ['only an order is said', { [unit]: `${plain}\n[Unit]\nAfter=machines.target\n` }],
    ['another target’s name begins alike', { [unit]: '[Unit]\nWants=my-machines.target\n' }],
  ])('%s', (_, files) => expect(missing(files)).toEqual(drover))
})
