import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { errorCodes } from '../../src/errors.ts'
import { createConsole } from '../../src/report/console.ts'
import { fanOut } from '../../src/report/fan-out.ts'
import { openJournal } from '../../src/report/journal.ts'
import { createJsonOutput } from '../../src/report/json-output.ts'
import { createRedactor } from '../../src/report/redact.ts'
import { createReportFold } from '../../src/report/report-fold.ts'
import { createRunDirectory, writeReports } from '../../src/report/run-directory.ts'
import type { RunEventBody } from '../../src/runner/events.ts'
import { anyStream, runStarted, stamped } from './streams.ts'

const noShort = (count: number): void => expect.unreachable(`${count} too short`)
const redactorOf = (...secrets: string[]) => createRedactor(secrets, noShort)

// Letters that no word of drover has, so that a hit is a leak.
const anySecret = fc
  .string({
    unit: fc.constantFrom('q', 'Q', '\u0416', "'", '"', '\\', ' ', '\n', '\t', '$', '%', '\u001b', '\u{1f511}'),
    minLength: 2,
    maxLength: 30,
  })
  .map((middle) => `qQ${middle}Qq`)

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const forms: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  base64,
  (secret) => base64(secret).replace(/=+$/, ''),
  (secret) => Buffer.from(secret).toString('base64url'),
  (secret) => JSON.stringify(secret),
  (secret) => JSON.stringify({ password: secret }),
  (secret) => `'${secret.replaceAll("'", "'\\''")}'`,
  encodeURIComponent,
]

describe('redactor', () => {
  test('takes a secret out of every string, keys too, in each form it comes back in', () => {
    fc.assert(
      fc.property(anySecret, fc.constantFrom(...forms), fc.string(), (secret, form, around) => {
        const written = form(secret)
        const value = { detail: `${around} ${written} ${around}`, list: [{ [written]: written }] }
        const left = JSON.stringify(redactorOf(secret)(value))
        for (const each of [secret, JSON.stringify(secret).slice(1, -1), base64(secret).replace(/=+$/, '')])
          expect(left).not.toContain(each)
        expect(left).toContain('[secret]')
      }),
    )
  })

  test('finds a secret within a longer base64 text, wherever it begins', () => {
    const secret = 'correct horse battery'
    for (const before of ['', 'x', 'xy', 'xyz']) {
      const left = redactorOf(secret)(base64(`${before}${secret} and more`))
      expect(Buffer.from(left.replace('[secret]', ''), 'base64').toString()).not.toContain('horse')
      expect(left).toContain('[secret]')
    }
  })

  test('finds the lines of a secret of several lines, as diffs show them', () => {
    const key = '-----BEGIN KEY-----\nQUJDREVGR0hJSktM\n-----END KEY-----\n'
    expect(redactorOf(key)('+ QUJDREVGR0hJSktM\n+ -----END KEY-----')).toBe('+ [secret]\n+ [secret]')
  })

  test('a secret within another leaves nothing of the longer', () => {
    expect(redactorOf('hunter', 'hunter2-long')('hunter2-long, hunter')).toBe('[secret], [secret]')
  })

  test('is told of secrets too short to look for, and leaves them', () => {
    const counts: number[] = []
    const redact = createRedactor(['abc', '', '   \n', 'abcd'], (count) => counts.push(count))
    expect(counts).toEqual([3])
    expect(redact({ message: 'abc abcd' })).toEqual({ message: 'abc [secret]' })
  })

  test("a secret that is one of drover's own words breaks no event and is still hidden in text", () => {
    const body: RunEventBody = {
      type: 'host-ended',
      host: 'web1',
      outcome: 'changed',
      changes: 1,
      ms: 2,
      error: { code: 'auth-failed', message: 'changed 2026', remedy: 'message' },
    }
    const redact = redactorOf(
      'changed',
      'outcome',
      'auth-failed',
      'message',
      'host',
      '2026',
      'host-ended',
      ...Object.keys(errorCodes),
    )
    const event = stamped(body)
    expect(redact(event)).toEqual({
      ...event,
      error: { ...body.error, message: '[secret] [secret]', remedy: '[secret]' },
    })
    expect(redact({ code: 'outcome' })).toEqual({ code: '[secret]' })
  })

  test('leaves what it is given as it was, and numbers, null and booleans as they are', () => {
    const value = Object.freeze({ ms: 1234, ok: true, none: null, text: Object.freeze(['1234']) })
    expect(redactorOf('1234')(value)).toEqual({ ms: 1234, ok: true, none: null, text: ['[secret]'] })
  })

  test('no sink holds a secret, whatever field it was in', async () => {
    const root = mkdtempSync(join(tmpdir(), 'drover-redact-'))
    await fc.assert(
      fc.asyncProperty(anySecret, fc.constantFrom(...forms), anyStream, async (secret, form, { events }) => {
        let screen = ''
        const write = (text: string): void => {
          screen += text
        }
        const directory = createRunDirectory(root, info, new Date())
        const journal = openJournal(directory.events, (error) => expect.unreachable(error.message))
        const report = createReportFold()
        const sink = fanOut({
          redact: redactorOf(secret),
          onError: (name, thrown) => expect.unreachable(`${name}: ${thrown}`),
          sinks: {
            journal: journal.take,
            report: report.take,
            console: createConsole({ write, colour: true, verbose: 2, diff: true, reports: 'here' }),
            json: createJsonOutput(write),
          },
        })
        for (const event of events) sink(withText(event, form(secret)))
        await journal.close()
        const whole = report.report()
        if (whole !== undefined) await writeReports(directory, whole, (error) => expect.unreachable(error.message))
        const files = readdirSync(directory.path, { recursive: true, withFileTypes: true }).filter((entry) =>
          entry.isFile(),
        )
        const texts = files.map((entry) => entry.name + readFileSync(join(entry.parentPath, entry.name), 'utf8'))
        for (const output of [screen, ...texts]) {
          for (const each of [secret, JSON.stringify(secret).slice(1, -1), base64(secret).replace(/=+$/, '')])
            expect(output).not.toContain(each)
        }
        expect(screen).toContain('[secret]')
      }),
      { numRuns: 40 },
    )
    rmSync(root, { recursive: true })
  })
})

const info = {
  playbook: { name: 'remediate', file: 'remediate.yaml', sha256: 'a' },
  inventory: [],
  mode: 'apply',
  operator: runStarted.operator,
  reason: null,
  version: '0.1.0',
} as const

const free = new Set([
  'message',
  'remedy',
  'detail',
  'summary',
  'diff',
  'server',
  'reason',
  'target',
  'host',
  'step',
  'playbook',
  'knownAfter',
])

/** The event with the text put into each of its free fields. */
const withText = <T>(value: T, text: string, key = ''): T => {
  if (typeof value === 'string') return (free.has(key) ? `${value}${text}` : value) as T
  if (Array.isArray(value)) return value.map((each) => withText(each, text, key === 'hosts' ? 'host' : key)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withText(each, text, name)])) as T
}
