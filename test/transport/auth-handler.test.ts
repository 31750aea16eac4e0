import fc from 'fast-check'
import type { AnyAuthMethod, ParsedKey, Prompt } from 'ssh2'
import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/secret.ts'
import type { Ask } from '../../src/transport/login/ask.ts'
import { type AuthAttempt, createAuthAttempt } from '../../src/transport/login/auth-handler.ts'
import type { Credential } from '../../src/transport/login/credentials.ts'
import { authError } from '../../src/transport/login/login-errors.ts'
import { PasswordGate } from '../../src/transport/login/password-gate.ts'
import { fakeHost } from './fake-host.ts'

const host = fakeHost({ name: 'web1', user: 'deploy' })
const password = 'Xq7-the-password-9Zk'

/** What a server says to one try: in, or what is left and whether something was right. Or it asks. */
type Verdict = 'in' | { left: string[]; partial?: true } | { rounds: Prompt[][]; after: Verdict }

const keysOf = (...labels: readonly string[]): Credential[] =>
  labels.map((label) => ({ label, isConfigured: true, key: { label } as unknown as ParsedKey }))

interface Login {
  readonly keys?: readonly string[]
  readonly password?: boolean
  readonly gate?: PasswordGate
  /** Answers to what is asked; absent: there is no terminal. */
  readonly answers?: readonly string[]
}

/** Runs a login against a server that answers each try by its name; returns the tries and how it ended. */
const logIn = async (server: (name: string) => Verdict, { keys = [], answers, ...given }: Login) => {
  const asked: string[] = []
  const ask: Ask | undefined =
    answers &&
    (async ({ text }) => {
      asked.push(text)
      return answers[asked.length - 1] ?? null
    })
  const gate = given.gate ?? new PasswordGate()
  const attempt = createAuthAttempt({
    host,
    offers: keysOf(...keys),
    ask,
    password: given.password === false ? undefined : { secret: new Secret(password), gate },
  })
  const tries: string[] = []
  const stopped = new Promise<false>((resolve) => attempt.watch({ onStop: () => resolve(false), onPause: () => {} }))
  let [left, partial]: [string[] | null, boolean | null] = [null, null]
  for (;;) {
    const method = await Promise.race([nextOf(attempt, left, partial), stopped])
    if (method === false) {
      attempt.end('refused')
      return { attempt, tries, asked, isIn: false }
    }
    const name = method.type === 'publickey' ? (method.key as unknown as Credential).label : method.type
    tries.push(name)
    let verdict = server(name)
    while (typeof verdict === 'object' && 'rounds' in verdict) {
      for (const prompts of verdict.rounds) {
        if (method.type !== 'keyboard-interactive') throw new Error(`${name} cannot be asked`)
        const given = await Promise.race([
          new Promise<readonly string[]>((resolve) => method.prompt('', '', '', [...prompts], resolve)),
          stopped,
        ])
        if (given === false) return { attempt, tries, asked, isIn: false }
        tries.push(...given.map((text) => `<${text === password ? 'the password' : text}>`))
      }
      verdict = verdict.after
    }
    if (verdict === 'in') {
      attempt.end('in')
      return { attempt, tries, asked, isIn: true }
    }
    if (typeof verdict !== 'object' || 'rounds' in verdict) throw new Error('the server says nothing')
    ;[left, partial] = [verdict.left, verdict.partial ?? false]
  }
}

const nextOf = (attempt: AuthAttempt, left: string[] | null, partial: boolean | null): Promise<AnyAuthMethod | false> =>
  new Promise((resolve) => {
    const handler = attempt.handler as unknown as (...args: unknown[]) => AnyAuthMethod | false | undefined
    const method = handler(left, partial, resolve)
    if (method !== undefined) resolve(method)
  })

const all = ['publickey', 'password', 'keyboard-interactive']
const passwordPrompt: Prompt = { prompt: 'Password: ', echo: false }
const codePrompt: Prompt = { prompt: 'Verification code: ', echo: false }

describe('the order of attempts', () => {
  const refuse = (...left: string[]) => ({ left })
  test.each<[string, (name: string) => Verdict, Login, string[], boolean]>([
    ['the first key is right', () => 'in', { keys: ['a', 'b'] }, ['a'], true],
    ['keys in their order', (name) => (name === 'b' ? 'in' : refuse(...all)), { keys: ['a', 'b'] }, ['a', 'b'], true],
    [
      'then the password',
      (name) => (name === 'password' ? 'in' : refuse('publickey', 'password')),
      { keys: ['a', 'b'] },
      ['a', 'b', 'password'],
      true,
    ],
    [
      'a server that takes no keys is not shown more of them',
      (name) => (name === 'password' ? 'in' : refuse('password')),
      { keys: ['a', 'b'] },
      ['a', 'password'],
      true,
    ],
    [
      'without a key the server is asked what it takes',
      (name) => (name === 'password' ? 'in' : refuse('password')),
      {},
      ['none', 'password'],
      true,
    ],
    [
      'keyboard-interactive comes before password, and is enough',
      (name) => (name === 'none' ? refuse(...all) : { rounds: [[passwordPrompt]], after: 'in' }),
      {},
      ['none', 'keyboard-interactive', '<the password>'],
      true,
    ],
    [
      'what it refused there is not sent again',
      (name) => (name === 'none' ? refuse(...all) : { rounds: [[passwordPrompt]], after: refuse(...all) }),
      {},
      ['none', 'keyboard-interactive', '<the password>'],
      false,
    ],
    [
      'where it is not asked for there, it goes by the other method',
      (name) => (name === 'password' ? 'in' : refuse('password', 'keyboard-interactive')),
      {},
      ['none', 'keyboard-interactive', 'password'],
      true,
    ],
    [
      'a second factor after the key',
      (name) => (name === 'password' ? 'in' : { left: ['password'], partial: true }),
      { keys: ['a', 'b'] },
      ['a', 'password'],
      true,
    ],
    [
      'a password and a code after the key',
      (name) =>
        name === 'a'
          ? { left: ['keyboard-interactive'], partial: true }
          : { rounds: [[passwordPrompt], [codePrompt]], after: 'in' },
      { keys: ['a'], answers: ['123456'] },
      ['a', 'keyboard-interactive', '<the password>', '<123456>'],
      true,
    ],
    [
      'a code alone after the key, without any password',
      (name) =>
        name === 'a' ? { left: ['keyboard-interactive'], partial: true } : { rounds: [[codePrompt]], after: 'in' },
      { keys: ['a'], password: false, answers: ['123456'] },
      ['a', 'keyboard-interactive', '<123456>'],
      true,
    ],
    [
      'without a password nobody is asked for one host by host',
      () => refuse(...all),
      { keys: ['a'], password: false, answers: ['typed'] },
      ['a'],
      false,
    ],
    ['nothing at all', () => refuse('publickey'), { password: false }, ['none'], false],
  ])('%s', async (_, server, login, tries, isIn) => {
    expect(await logIn(server, login)).toMatchObject({ tries, isIn })
  })
})

const onlyAsking =
  (...rounds: Prompt[][]) =>
  (name: string): Verdict =>
    name === 'none' ? { left: ['keyboard-interactive'] } : { rounds, after: 'in' }

describe('questions', () => {
  test.each<[string, Prompt[]]>([
    ['a code', [{ prompt: 'Verification code: ', echo: false }]],
    ['a one-time password', [{ prompt: "One-time password (OATH) for `deploy': ", echo: false }]],
    ['what is shown as it is typed', [{ prompt: 'Password: ', echo: true }]],
    ['two at once', [passwordPrompt, codePrompt]],
    ['what names no password', [{ prompt: 'PASSCODE: ', echo: false }]],
  ])('the password is no answer to %s', async (_, prompts) => {
    const alone = await logIn(onlyAsking(prompts), {})
    expect(alone.isIn).toBe(false)
    expect(alone.tries.join()).not.toContain('the password')
    const error = authError(host, alone.attempt, undefined)
    expect(error).toMatchObject({ code: 'auth-failed', remedy: expect.stringContaining('terminal') })
    expect(error.message).toContain(prompts[0]?.prompt.trim())
    const asked = await logIn(onlyAsking(prompts), { answers: ['one', 'two'] })
    expect(asked.isIn).toBe(true)
    expect(asked.asked[0]).toMatch(/^web1 asks: /)
  })

  test.each([
    'Password: ',
    "deploy@web1's password: ",
    '(deploy@web1) Password: ',
    'Passwort: ',
    'Mot de passe : ',
    'Пароль: ',
  ])('it is the answer to %s', async (prompt) => {
    expect((await logIn(onlyAsking([{ prompt, echo: false }]), {})).tries.at(-1)).toBe('<the password>')
  })

  test.each(['New password: ', 'Current password: ', 'Retype new password: '])(
    'an expired password is an error and not a hang: %s',
    async (prompt) => {
      const ended = await logIn(onlyAsking([passwordPrompt], [{ prompt, echo: false }]), { answers: ['never'] })
      expect([ended.isIn, ended.asked]).toEqual([false, []])
      expect(authError(host, ended.attempt, undefined).message).toMatch(/has expired/)
    },
  )

  test('a server that asks for ever, or for very much, is left', async () => {
    const rounds = Array.from({ length: 50 }, () => [codePrompt])
    const ended = await logIn(onlyAsking(...rounds), { answers: rounds.map(() => 'x') })
    expect([ended.isIn, ended.asked.length]).toEqual([false, 8])
    const many = await logIn(onlyAsking(Array.from({ length: 50 }, () => codePrompt)), { answers: [] })
    expect([many.isIn, many.asked.length]).toEqual([false, 0])
  })
})

test('whatever a server says: few attempts, no key twice, the password at most once, and no secret in the error', async () => {
  const prompt = fc.constantFrom(passwordPrompt, codePrompt, { prompt: 'Current password: ', echo: false })
  const left = fc.subarray(all)
  const refusal = fc.record({ left, partial: fc.constantFrom(true as const, undefined) }).map(({ left, partial }) => ({
    left,
    ...(partial && { partial }),
  }))
  const verdict: fc.Arbitrary<Verdict> = fc.oneof(refusal, fc.constant('in' as const))
  const asking = fc.record({ rounds: fc.array(fc.array(prompt, { maxLength: 3 }), { maxLength: 4 }), after: refusal })
  const login = fc.record({
    keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 }),
    password: fc.boolean(),
    answers: fc.option(fc.array(fc.constant('typed'), { maxLength: 3 }), { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(verdict, { minLength: 12, maxLength: 12 }),
      asking,
      login,
      async (verdicts, asks, given) => {
        const { answers, ...rest } = given
        let count = 0
        const server = (name: string): Verdict => {
          count += 1
          if (name === 'keyboard-interactive') return asks
          return verdicts[count] ?? { left: [] }
        }
        const { attempt, tries } = await logIn(server, { ...rest, ...(answers && { answers }) })
        const methods = tries.filter((name) => !name.startsWith('<'))
        expect(new Set(methods).size).toBe(methods.length)
        expect(methods.filter((name) => name !== 'none').length).toBeLessThanOrEqual(given.keys.length + 2)
        expect(tries.filter((name) => name === '<the password>' || name === 'password').length).toBeLessThanOrEqual(1)
        const error = authError(host, attempt, undefined)
        expect(JSON.stringify([error.message, error.remedy, error.detail])).not.toContain(password)
      },
    ),
  )
})
