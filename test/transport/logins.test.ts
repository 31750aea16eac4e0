import type { ParsedKey } from 'ssh2'
import { expect, test } from 'vitest'
import { Secret } from '../../src/secret.ts'
import type { Credential } from '../../src/transport/login/credentials.ts'
import { createLogins } from '../../src/transport/login/logins.ts'
import { createPasswordGates, type PasswordTry } from '../../src/transport/login/password-gate.ts'
import { passwordTurn } from '../../src/transport/login/password-turn.ts'
import { fakeHost } from './fake-host.ts'

const password = new Secret('the password')
const key = (label: string): Credential => ({ label, isConfigured: false, key: {} as ParsedKey })
const alive = new AbortController().signal
const hostCalled = (name: string) => fakeHost({ name })

const refusedByTwo = async () => {
  const passwordGates = createPasswordGates()
  for (const name of ['a', 'b'])
    ((await passwordGates('root', password).enter(hostCalled(name), alive)) as PasswordTry)('wrong')
  return passwordGates
}

test('where two have refused the password, hosts that take nothing else are not even connected to', async () => {
  const loginOf = createLogins({ passwordOf: () => password, passwordGates: await refusedByTwo() })
  const refusal = loginOf(hostCalled('c'), { usable: [], unusable: [] }).refusal()
  expect(refusal).toMatchObject({
    code: 'auth-failed',
    message: expect.stringContaining('the password was not tried, since a and b refused it'),
  })
  expect(loginOf(hostCalled('c'), { usable: [key('k')], unusable: [] }).refusal()).toBeUndefined()
  expect(loginOf(hostCalled('a'), { usable: [], unusable: [] }).refusal()?.message).toContain('is not asked again')
})

test('a client that shares the gate stops before it sends the password, and says why', async () => {
  let stops = 0
  const turn = passwordTurn({ passwordGates: await refusedByTwo() }, hostCalled('c'), password, () => {
    stops += 1
  })
  expect(turn?.refusal()).toBeUndefined()
  expect([await turn?.enter(), stops]).toEqual([false, 1])
  expect(turn?.refusal()?.message).toContain('a and b refused it')
})

test('a login that is over waits for nobody, and tells what it has seen', async () => {
  const passwordGates = createPasswordGates()
  const turnOf = (name: string) => passwordTurn({ passwordGates }, hostCalled(name), password, () => undefined)
  const [first, second, third] = [turnOf('a'), turnOf('b'), turnOf('c')]
  expect(await first?.enter()).toBe(true)
  const waiting = second?.enter()
  second?.end('unknown')
  await expect(waiting).rejects.toThrow()
  const next = third?.enter()
  first?.end('right')
  expect(await next).toBe(true)
})

test('the next host with the same keys begins with what let the last one in', () => {
  const loginOf = createLogins({})
  const found = { usable: ['a', 'b', 'c'].map(key), unusable: [] }
  const first = loginOf(hostCalled('one'), found)
  const [, , last] = found.usable
  first.remember({ ...first.attempt(), last })
  const attempt = loginOf(hostCalled('two'), found).attempt()
  const offer = (attempt.handler as unknown as (...args: unknown[]) => unknown)(null, null, () => undefined)
  expect(offer).toMatchObject({ type: 'publickey' })
  expect(attempt.offered.map(({ label }) => label)).toEqual(['c'])
})
