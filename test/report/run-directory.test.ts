import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRunDirectory, writeReports } from '../../src/report/run-directory.ts'
import { reportOf, runStarted, stamped } from './streams.ts'

const info = {
  playbook: { name: 'remediate', file: 'playbooks/remediate.yaml', sha256: 'a' },
  inventory: [{ source: 'hosts.yaml', sha256: 'b' }],
  mode: 'apply',
  operator: 'ada',
  reason: 'ticket 7',
  version: '0.1.0',
} as const
const now = new Date('2026-08-24T10:12:09.345Z')
const report = reportOf([
  stamped({ ...runStarted, hosts: ['web1', 'a/b'] }),
  stamped({ type: 'run-ended', exitCode: 0, ms: 1, interrupted: true }),
])
const mode = (path: string): number => statSync(path).mode & 0o777
const read = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, 'utf8'))

let root: string
beforeEach(() => {
  root = join(mkdtempSync(join(tmpdir(), 'drover-runs-')), '.drover', 'runs')
})
afterEach(() => rmSync(join(root, '..', '..'), { recursive: true }))

describe('run directory', () => {
  test('is named by time and playbook, is its owner’s alone, and says who runs what', () => {
    const directory = createRunDirectory(root, info, now, 'a1b2c3')
    expect(directory.run).toBe('2026-08-24T10-12-09Z-remediate-a1b2c3')
    expect([root, directory.path, join(directory.path, 'hosts')].map(mode)).toEqual([0o700, 0o700, 0o700])
    expect(mode(join(directory.path, 'run.json'))).toBe(0o600)
    expect(read(join(directory.path, 'run.json'))).toMatchObject({
      schemaVersion: 1,
      run: directory.run,
      started: now.toISOString(),
      playbook: info.playbook,
      inventory: info.inventory,
      operator: 'ada',
      reason: 'ticket 7',
      versions: { drover: '0.1.0', node: process.version },
      pid: process.pid,
    })
  })

  test('two runs in one second have two directories', () => {
    const runs = [1, 2, 3].map(() => createRunDirectory(root, info, now, 'a1b2c3').run)
    expect(runs).toEqual(['', '-2', '-3'].map((end) => `2026-08-24T10-12-09Z-remediate-a1b2c3${end}`))
  })

  test('a playbook’s name cannot leave the directory', () => {
    const { run } = createRunDirectory(
      root,
      { ...info, playbook: { ...info.playbook, name: '../../x y' } },
      now,
      'a1b2c3',
    )
    expect(run).toBe('2026-08-24T10-12-09Z-.._.._x_y-a1b2c3')
    expect(readdirSync(root)).toEqual([run])
  })

  test('that cannot be made is an error before anything was touched', () => {
    const file = join(root, '..', '..', 'file')
    writeFileSync(file, '')
    expect(() => createRunDirectory(file, info, now)).toThrow(
      expect.objectContaining({ code: 'usage', remedy: expect.any(String) }),
    )
  })

  test('gets a report per host and one for all, whole, 0600, with nothing left beside them', async () => {
    const directory = createRunDirectory(root, info, now, 'a1b2c3')
    await writeReports(directory, report, (error) => expect.unreachable(error.message))
    expect(read(join(directory.path, 'report.json'))).toEqual(JSON.parse(JSON.stringify(report)))
    expect(read(join(directory.path, 'hosts', 'web1.json'))).toMatchObject({
      schemaVersion: 1,
      run: report.run,
      name: 'web1',
      outcome: null,
    })
    expect(readdirSync(join(directory.path, 'hosts')).sort()).toEqual(['a_b-c14cddc0.json', 'web1.json'])
    expect(readdirSync(directory.path).sort()).toEqual(['hosts', 'report.json', 'run.json', 'unfinished'])
    expect(mode(join(directory.path, 'report.json'))).toBe(0o600)
  })

  test('one file that cannot be written is told once and stops no other', async () => {
    const directory = createRunDirectory(root, info, now, 'a1b2c3')
    rmSync(join(directory.path, 'hosts'), { recursive: true })
    const errors: Error[] = []
    await writeReports(directory, report, (error) => errors.push(error))
    expect(errors).toHaveLength(1)
    expect(readdirSync(directory.path).sort()).toEqual(['report.json', 'run.json', 'unfinished'])
  })
})
