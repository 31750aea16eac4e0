import { describe, expect, test } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import { Secret } from '../../src/secret.ts'
import type { Become } from '../../src/transport/become/become.ts'
import { runScript } from '../../src/transport/script/run-script.ts'
import { createLocalConnection, type LocalConnection } from './local-connection.ts'

/** The talk with sudo through real shells; the sudo is ours. The real ones are in e2e. */

const secret = 'Pa55 "w\'ord$`\\%'
const asked: Become = { method: 'sudo', password: new Secret(secret) }
const script = 'main() { printf "%s|" "$@"; cat; echo "to err" >&2; }\nmain "$@"\n'
const payload = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256))

/** Takes sudo's options and leaves the command. */
const options = 'while [ "$1" != -- ]; do shift; done; shift\n'
const ask = 'printf %s "$SUDO_PROMPT" | sed \'s/%%/%/; s/%p/deploy/\' >&2; IFS= read -r p\n'
const check = `[ "$p" = '${secret.replaceAll("'", "'\\''")}' ] || `

const run = (local: LocalConnection, become: Become = asked, over: { deadlineMs?: number } = {}) =>
  runScript(local.connection, {
    run: 'r1',
    verb: 'probe',
    script,
    args: ['one', "it's"],
    payload,
    become,
    deadlineMs: 10_000,
    maxBytes: 1_000_000,
    ...over,
  })

const expectAnswer = async (answer: ReturnType<typeof run>): Promise<void> => {
  const { code, stdout, stderr } = await answer
  expect(code).toBe(0)
  expect(stdout.equals(Buffer.concat([Buffer.from("one|it's|"), payload]))).toBe(true)
  expect(stderr.toString()).toBe('to err\n')
}

const failureOf = async (answer: Promise<unknown>): Promise<DroverError> => {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof DroverError)) throw new Error(`no error of ours: ${String(error)}`)
  expect(JSON.stringify([error.message, error.remedy, error.detail, error.stack])).not.toContain('Pa55')
  return error
}

describe.each([false, true])('root is had (on a terminal: %s)', (terminal) => {
  const tty = terminal
    ? '[ "$(ps -o tty= -p $$)" != "?" ] || { echo "sudo: sorry, you must have a tty to run sudo" >&2; exit 1; }\n'
    : ''

  test('with a password, when it was asked for', async () => {
    const local = createLocalConnection({ sudo: `${tty}${options}${ask}${check}exit 1\nexec "$@"\n` })
    await expectAnswer(run(local))
    expect(local.commands.length).toBe(terminal ? 2 : 1)
    expect(local.commands.join()).not.toContain('Pa55')
    // What was found out is not found out again.
    await expectAnswer(run(local))
    expect(local.commands.length).toBe(terminal ? 3 : 2)
  })

  test('with a password that nobody asks for: it is not written, and the script gets its input alone', async () => {
    const local = createLocalConnection({ sudo: `${tty}${options}exec "$@"\n` })
    await expectAnswer(run(local))
    expect(local.written().includes('Pa55')).toBe(false)
  })

  test('without a password', async () => {
    const local = createLocalConnection({ sudo: `${tty}[ "$1" = -n ] || exit 9\n${options}exec "$@"\n` })
    await expectAnswer(run(local, { method: 'sudo' }))
  })
})

test('doas is run without a question, whatever password there is', async () => {
  const local = createLocalConnection({ doas: `[ "$1" = -n ] || exit 9\n${options}exec "$@"\n` })
  await expectAnswer(run(local, { ...asked, method: 'doas' }))
  expect(local.written().includes('Pa55')).toBe(false)
})

test('a wrong password is tried once, and is in no error even where the host repeats it', async () => {
  const wrong = `while :; do ${ask}echo "you said $p" >&2; echo "Sorry, try again." >&2; done\n`
  const local = createLocalConnection({ sudo: `${options}${wrong}` })
  expect(await failureOf(run(local))).toMatchObject({
    code: 'become-failed',
    message: 'sudo on host-1 refused the password of deploy.',
    detail: 'you said [password]\nSorry, try again.',
  })
  expect(local.written().toString()).toBe(`${secret}\n`)

  const repeats = createLocalConnection({ sudo: `${options}${ask}echo "sudo: what is $p" >&2; exit 1\n` })
  const error = await failureOf(run(repeats))
  expect(error.message).toBe('sudo on host-1 gives no root rights: sudo: what is [password]')
})

test('a question that comes twice without a refusal wants something else', async () => {
  const local = createLocalConnection({ sudo: `${options}while :; do ${ask}done\n` })
  expect(await failureOf(run(local))).toMatchObject({
    code: 'become-failed',
    message: expect.stringMatching(/^sudo on host-1 asked twice without a word against the password/),
  })
})

test('a terminal that does not help, and one that cannot be made, are the end of it', async () => {
  const words = 'echo "sudo: sorry, you must have a tty to run sudo" >&2; exit 1\n'
  const never = createLocalConnection({ sudo: words })
  expect(await failureOf(run(never))).toMatchObject({ message: 'sudo on host-1 runs only on a terminal (requiretty).' })
  expect(never.commands.length).toBe(2)

  const missing = createLocalConnection({
    sudo: words,
    script: 'echo "env: \'script\': No such file or directory" >&2; exit 127\n',
  })
  expect(await failureOf(run(missing))).toMatchObject({ message: expect.stringContaining('no script(1)') })
})

test('a login shell that does not come to the command is named, with what it said', async () => {
  const local = createLocalConnection({ sudo: 'echo "Mounting your home ..." >&2; exec sleep 5\n' })
  expect(await failureOf(run(local, asked, { deadlineMs: 400 }))).toMatchObject({
    code: 'channel-failed',
    message: "host-1 had not begun drover's script after 0 s: the login shell of deploy or sudo is still busy.",
    detail: 'Mounting your home ...',
  })
})
