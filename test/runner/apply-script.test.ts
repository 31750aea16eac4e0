import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compile } from '../../src/changes/compile.ts'
import { summaryOf } from '../../src/changes/describe.ts'
import { applyScript, journalLine } from '../../src/runner/apply-script.ts'
import type { PlannedChange } from '../../src/runner/plan.ts'
import { Secret } from '../../src/secret.ts'
import { anyChange, anySecret } from '../changes/every.ts'

const run = (reason: string | null = null) => ({ id: 'r1', operator: 'me@here', reason })
const planned = (summary: string): PlannedChange => ({
  change: { kind: 'systemctl', verb: 'daemon-reload' },
  expects: [],
  summary,
})

/** Calls and their words as the shell would read them: bare, in single quotes, or one quoted character. */
const callsOf = (script: string): string[][] => {
  const body = script.slice(
    script.indexOf('\n', script.indexOf('main() {\ncase ') + 9) + 1,
    script.lastIndexOf('finish\n'),
  )
  const calls: string[][] = []
  let call: string[] = []
  for (let at = 0; at < body.length; ) {
    const word = /(?:'[^']*'|\\'|[A-Za-z_]+|"\$2")+/y
    word.lastIndex = at
    const match = word.exec(body)
    if (match === null) throw new Error(`no word: ${body.slice(at, at + 60)}`)
    call.push(match[0].replaceAll(/'([^']*)'|\\(')/g, (_, quoted?: string, bare?: string) => quoted ?? bare ?? ''))
    at = word.lastIndex
    if (body[at] === '\n') {
      calls.push(call)
      call = []
    } else if (body[at] !== ' ') throw new Error(`no end of a word: ${body.slice(at, at + 60)}`)
    at += 1
  }
  return calls.filter(([name]) => name !== 'set_up')
}

test('it is our functions, set_up, the calls, and nothing before main is called at the very end', () => {
  const text = applyScript(run(), [planned('x')])
    .script('token', 77.2)
    .toString()
  expect(text).toContain(`set_up "$2" 'r1' 'run r1 by me@here, 1 changes to make: x' 'token' '78'`)
  expect(text.endsWith('finish\n}\nmain "$@" </dev/null\n')).toBe(true)
  expect(text).toContain('wait_for() {')
})

test('every word of every call reaches its function as it is, whatever is in it', () => {
  fc.assert(
    fc.property(fc.array(anyChange(), { maxLength: 6 }), (changes) => {
      const all = changes.map(
        (change): PlannedChange => ({
          change,
          expects: [{ path: "/it's", is: 'file', sha256: 'a' }],
          summary: summaryOf(change),
        }),
      )
      const isDeliverable = changes.every(
        (change) => change.kind !== 'run' || change.argv.every((word) => !word.includes('\0') && word.isWellFormed()),
      )
      fc.pre(isDeliverable)
      expect(callsOf(applyScript(run(), all).script('t', 1).toString())).toEqual(compile(all).calls)
    }),
  )
})

test('no secret is in the script: contents travel beside it', () => {
  fc.assert(
    fc.property(fc.array(anySecret, { minLength: 1, maxLength: 4 }), (secrets) => {
      const all = secrets.map((content, index): PlannedChange => {
        const change = { kind: 'write', path: `/s${index}`, content, mode: 0o600, owner: 'root:root' } as const
        return { change, expects: [], summary: summaryOf(change) }
      })
      const { script, content } = applyScript(run(), all)
      for (const secret of secrets) {
        expect(script('t', 1).toString()).not.toContain(secret.reveal())
        expect(content.toString()).toContain(secret.reveal())
      }
      expect(secrets.every((secret) => secret instanceof Secret)).toBe(true)
    }),
  )
})

test('the line for the journal says who, why and what, in one line', () => {
  expect(journalLine(run('ticket\n7'), [planned('a\r\nb'), planned('c')])).toBe(
    'run r1 by me@here, reason: ticket 7, 2 changes to make: a  b; c',
  )
})

test('a long line for the journal is cut, and never in the middle of a character', () => {
  for (const pad of ['', 'x']) {
    const changes = [planned(`${pad}${'\u{1f600}'.repeat(4000)}`)]
    const line = journalLine(run(), changes)
    expect(line.length).toBe(4000)
    expect(line.isWellFormed()).toBe(true)
    expect(() => applyScript(run(), changes).script('t', 1)).not.toThrow()
  }
})
