import { expect, test } from 'vitest'
import { createLiveLine } from '../../src/report/live-line.ts'
import type { RunEventBody } from '../../src/runner/events.ts'
import { stamped } from './streams.ts'

const terminal = (columns = 80) => {
  let now = 1000
  let tick: (() => void) | null = null
  let written = ''
  const line = createLiveLine({
    write: (text) => {
      written += text
    },
    columns: () => columns,
    now: () => now,
    every: (_, call) => {
      tick = call
      return () => {
        tick = null
      }
    },
  })
  const take = (...bodies: RunEventBody[]): void => {
    for (const body of bodies) line.take(stamped(body, 0))
  }
  return {
    take,
    write: line.write,
    /** What was written since, as it reads; `<` stands for the beginning of an emptied line. */
    news: () => {
      const text = written.replaceAll('\r\x1b[K', '<').replaceAll('\r', '|')
      written = ''
      return text
    },
    pass: (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        now += 1000
        tick?.()
      }
    },
    isTicking: () => tick !== null,
  }
}

const stalled = (host: string, silentMs: number, where = 'inspect section paths'): RunEventBody => ({
  type: 'host-stalled',
  host,
  where,
  silentMs,
})
const moving = (host: string): RunEventBody => ({ type: 'host-moving', host, where: 'x', silentMs: 1 })

test('says for how long what is waited for, each second, and goes when it is over', () => {
  const { take, news, pass, isTicking } = terminal()
  take(stalled('h1', 30_000))
  expect(news()).toBe('<h1: 30 s in inspect section paths|')
  pass(2)
  expect(news()).toBe('<h1: 31 s in inspect section paths|<h1: 32 s in inspect section paths|')
  take(moving('h1'))
  expect([news(), isTicking()]).toEqual(['<', false])
})

test('names the host that has been silent for longest, and counts the others', () => {
  const { take, news } = terminal()
  take(stalled('h1', 30_000), stalled('h2', 60_000), stalled('h3', 1_000))
  expect(news()).toMatch(/<h2: 60 s in inspect section paths \(and 2 more\)\|$/)
  take(moving('h2'), { type: 'host-ended', host: 'h3', outcome: 'failed', changes: 0, ms: 1 })
  expect(news()).toMatch(/<h1: 30 s in inspect section paths\|$/)
})

test('a declared wait is shown as well, until its change has ended', () => {
  const { take, news } = terminal()
  take({ type: 'change-started', host: 'h1', step: 'boot', summary: 'reboot', waitMs: 60_000 })
  expect(news()).toBe('<h1: 0 s in boot: reboot|')
  take({ type: 'change-done', host: 'h1', step: 'boot', summary: 'reboot' })
  expect(news()).toBe('<')
})

test('other lines stand above it', () => {
  const { take, news, write } = terminal()
  take(stalled('h1', 30_000))
  news()
  write('ok: [h2] a\n')
  expect(news()).toBe('<ok: [h2] a\n<h1: 30 s in inspect section paths|')
})

test('a terminal on which nobody is waited for sees plain lines alone', () => {
  const { take, news, write, isTicking } = terminal()
  take(moving('h1'), { type: 'change-started', host: 'h1', step: 's', summary: 'write' })
  write('ok: [h2] a\n')
  expect([news(), isTicking()]).toEqual(['ok: [h2] a\n', false])
})

test('it never wraps, and no host writes anything but text', () => {
  const { take, news } = terminal(30)
  take(stalled('h1', 1000, `x\x1b[2J\n${'y'.repeat(200)}`), stalled('h2', 500))
  const line = news().split('<').at(-1) ?? ''
  expect(line.length).toBeLessThanOrEqual(30)
  expect(line).toMatch(/ \(and 1 more\)\|$/)
  expect(line).not.toMatch(/[\x1b\n]/)
})
