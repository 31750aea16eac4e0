import { expect, test } from 'vitest'
import { fanOut } from '../../src/report/fan-out.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import { runStarted, stamped } from './streams.ts'

const event = stamped(runStarted)
const same = <T>(value: T): T => value

test('a sink that throws stops no other sink and no lane, and is told of once', () => {
  const taken: RunEvent[] = []
  const errors: string[] = []
  const sink = fanOut({
    redact: same,
    sinks: {
      broken: () => {
        throw new Error('EPIPE')
      },
      whole: (each) => taken.push(each),
    },
    onError: (name, thrown) => errors.push(`${name}: ${thrown}`),
  })
  sink(event)
  sink(event)
  expect(taken).toEqual([event, event])
  expect(errors).toEqual(['broken: Error: EPIPE'])
})

test('an event that cannot be redacted reaches no sink', () => {
  const taken: RunEvent[] = []
  const errors: string[] = []
  const sink = fanOut({
    redact: () => {
      throw new Error('no')
    },
    sinks: { whole: (each) => taken.push(each) },
    onError: (name) => errors.push(name),
  })
  sink(event)
  expect({ taken, errors }).toEqual({ taken: [], errors: ['redaction'] })
})

test('even a caller that fails to hear of a failure does not throw into the lane', () => {
  const broken = (): never => {
    throw new Error('no')
  }
  expect(() => fanOut({ redact: same, sinks: { broken }, onError: broken })(event)).not.toThrow()
})

test('each event is redacted once, however many sinks there are', () => {
  let count = 0
  const redact = <T>(value: T): T => {
    count += 1
    return value
  }
  fanOut({ redact, sinks: { one: () => {}, two: () => {} }, onError: () => {} })(event)
  expect(count).toBe(1)
})
