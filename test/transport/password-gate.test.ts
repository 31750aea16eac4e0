import { expect, test } from 'vitest'
import { Secret } from '../../src/secret.ts'
import {
  createPasswordGates,
  PasswordGate,
  type PasswordTry,
  type PasswordVerdict,
} from '../../src/transport/login/password-gate.ts'
import { fakeHost } from './fake-host.ts'

const hosts = Array.from({ length: 20 }, (_, index) => fakeHost({ name: `h${index}` }))
const alive = new AbortController().signal

/** All hosts at once, each with its own verdict; returns who tried, in turn, and how many did so at a time. */
const runAll = async (verdictOf: (name: string) => PasswordVerdict) => {
  const gate = new PasswordGate()
  const tried: string[] = []
  const refused: Record<string, readonly string[]> = {}
  let atOnce = 0
  let most = 0
  let mostBeforeRight = 0
  let isRight = false
  await Promise.all(
    hosts.map(async (host) => {
      const entered = await gate.enter(host, alive)
      if (typeof entered !== 'function') {
        refused[host.name] = entered.refusedBy
        return
      }
      tried.push(host.name)
      atOnce += 1
      most = Math.max(most, atOnce)
      if (!isRight) mostBeforeRight = Math.max(mostBeforeRight, atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce -= 1
      const verdict = verdictOf(host.name)
      isRight ||= verdict === 'right'
      entered(verdict)
    }),
  )
  return { tried, refused, most, mostBeforeRight }
}

test('one host tries it, and when it was right all others do so at once', async () => {
  const { tried, most, mostBeforeRight } = await runAll(() => 'right')
  expect([tried.length, mostBeforeRight, most]).toEqual([20, 1, 19])
})

test('a wrong one is tried at two hosts, one after the other, and nowhere else', async () => {
  const { tried, refused, most } = await runAll(() => 'wrong')
  expect([tried, most]).toEqual([['h0', 'h1'], 1])
  expect(Object.keys(refused)).toHaveLength(18)
  expect(refused.h7).toEqual(['h0', 'h1'])
})

test('one odd host keeps nobody else out', async () => {
  expect((await runAll((name) => (name === 'h0' ? 'wrong' : 'right'))).tried).toHaveLength(20)
  expect((await runAll((name) => (name === 'h0' ? 'right' : 'wrong'))).tried).toHaveLength(20)
})

test('hosts that do not say are tried one by one', async () => {
  const { tried, most } = await runAll(() => 'unknown')
  expect([tried.length, most]).toEqual([20, 1])
})

test('a host that has refused it is not tried again, even where it is right elsewhere', async () => {
  const gate = new PasswordGate()
  const [odd, good] = [fakeHost({ name: 'odd' }), fakeHost({ name: 'good' })]
  ;((await gate.enter(odd, alive)) as PasswordTry)('wrong')
  ;((await gate.enter(good, alive)) as PasswordTry)('right')
  expect(await gate.enter(odd, alive)).toEqual({ refusedBy: ['odd'] })
  expect(gate.refusalOf(odd)).toEqual({ refusedBy: ['odd'] })
  expect(gate.refusalOf(good)).toBeUndefined()
})

test('whoever waits can be called off, and only the first word of a try counts', async () => {
  const gate = new PasswordGate()
  const first = (await gate.enter(fakeHost({ name: 'first' }), alive)) as PasswordTry
  const leaving = new AbortController()
  const waiting = gate.enter(fakeHost({ name: 'second' }), leaving.signal)
  leaving.abort(new Error('called off'))
  await expect(waiting).rejects.toThrow('called off')
  first('right')
  first('wrong')
  expect(gate.refusalOf(fakeHost({ name: 'first' }))).toBeUndefined()
})

test('each user and each password has a gate of its own', () => {
  const gateOf = createPasswordGates()
  const gate = gateOf('a', new Secret('x'))
  expect(gateOf('a', new Secret('x'))).toBe(gate)
  expect(gateOf('b', new Secret('x'))).not.toBe(gate)
  expect(gateOf('a', new Secret('y'))).not.toBe(gate)
})
