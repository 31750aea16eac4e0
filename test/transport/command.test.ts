import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/secret.ts'
import type { CommandInput } from '../../src/transport/script/command.ts'
import { buildCommand } from '../../src/transport/script/command.ts'
import { deframe } from '../../src/transport/script/framing.ts'
import { decodeCommand, stdinBytes } from './decode-command.ts'
import { runLocally } from './local-shell.ts'

const sudo = { method: 'sudo' } as const
const doas = { method: 'doas' } as const
const asked = { method: 'sudo', password: new Secret('Pa55-word') } as const

const printArgs = `# prints its arguments, each ended by NUL
main() {
  for a in "$@"; do printf '%s\\0' "$a"; done
}
main "$@" </dev/null
`
const copyInput = 'main() { printf "%s|" "$@"; cat; }\nmain "$@"\n'

const input = (over: Partial<CommandInput> = {}): CommandInput => ({
  run: '2026-01-02T03-04-05',
  verb: 'inspect',
  script: printArgs,
  args: [],
  become: null,
  token: 'tok1',
  askToken: 'ask1',
  ...over,
})

const run = async (over: Partial<CommandInput>) => {
  const ended = await runLocally(buildCommand(input(over)))
  return { ended, framed: deframe('tok1', ended) }
}

describe('the command line', () => {
  test('read from standard input, finds its programs whatever the login left of PATH', async () => {
    const command = buildCommand(input({ secret: true, args: ['a'] }))
    const ended = await runLocally(command, '/bin/sh', { PATH: '/nowhere' })
    expect(deframe('tok1', ended)).toMatchObject({ kind: 'complete', code: 0, stdout: Buffer.from('a\0') })
  })

  test('begins with the readable label, whatever the form', () => {
    expect(buildCommand(input({ run: 'r1' })).command).toMatch(/^exec \/bin\/sh -c ': drover r1 inspect; /)
    expect(buildCommand(input({ run: 'r1', secret: true })).command).toMatch(
      /^exec \/bin\/sh -c ': drover r1 inspect; /,
    )
    expect(buildCommand(input({ run: 'r1', become: { method: 'sudo' } })).command).toMatch(
      /^exec env LC_ALL=C sudo -n -- \/bin\/sh -c ': drover r1 inspect; /,
    )
  })

  test.each(['', 'a b', "a'b", 'a;b', 'a\nb', 'é'])('%j is no label', (word) => {
    expect(() => buildCommand(input({ run: word }))).toThrow(/cannot stand in a command label/)
    expect(() => buildCommand(input({ verb: word }))).toThrow(/cannot stand in a command label/)
  })

  test('has nothing that some login shell would change within or outside its single quotes', () => {
    const word = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed())
    fc.assert(
      fc.property(
        fc.array(word),
        fc.constantFrom(null, sudo, asked, doas),
        fc.boolean(),
        fc.boolean(),
        (args, become, secret, terminal) => {
          const { command } = buildCommand(input({ args, become, secret, terminal }))
          expect(command).not.toMatch(/[!\n\r`]/)
          // fish reads \\ and \' within single quotes; tcsh reads \! and an escaped newline.
          expect(command).not.toMatch(/\\[^0n]/)
          expect(
            command
              .split("'")
              .filter((_, index) => index % 2 === 0)
              .join(''),
          ).toMatch(/^[A-Za-z0-9 /=_-]*$/)
        },
      ),
    )
  })

  test('carries no script and no argument when it goes through sudo or is secret', () => {
    for (const over of [{ become: sudo }, { become: asked }, { become: asked, terminal: true }, { secret: true }]) {
      const { command, stdin } = buildCommand(input({ args: ['s3cret'], ...over }))
      expect(command).not.toContain('s3cret')
      expect(command).not.toContain('Pa55-word')
      expect(stdinBytes(stdin).toString()).toContain("main 's3cret'")
    }
  })

  test('becomes the stdin form when it would be too long for one argument', () => {
    expect(buildCommand(input({ args: ['x'.repeat(90_000)] })).stdin).toBeUndefined()
    expect(buildCommand(input({ args: ['\n'.repeat(90_000)] })).stdin).toBeDefined()
  })
})

describe('on a real /bin/sh', () => {
  const word = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed())

  test.each([false, true])('any arguments arrive byte for byte (secret: %s)', async (secret) => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 6 }), async (args) => {
        const { framed, ended } = await run({ args, secret })
        expect(framed).toMatchObject({ kind: 'complete', code: 0 })
        expect(ended.code).toBe(0)
        if (framed.kind === 'complete') expect(framed.stdout.toString()).toBe(args.map((arg) => `${arg}\0`).join(''))
        expect(decodeCommand(...wire({ args, secret })).args).toEqual(args)
      }),
      { numRuns: 25 },
    )
  })

  test('final newlines of an argument stay', async () => {
    const { framed } = await run({ args: ['a\n\n', '\n', ''] })
    expect(framed.kind === 'complete' && framed.stdout.toString()).toBe('a\n\n\0\n\0\0')
  })

  test('a payload follows the script, byte for byte, and nothing is read ahead', async () => {
    const payload = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256))
    const { framed } = await run({ script: copyInput, args: ['a'], payload })
    expect(framed.kind === 'complete' && framed.stdout.equals(Buffer.concat([Buffer.from('a|'), payload]))).toBe(true)
  })

  test('a script that reads its input finds it empty when there is no payload', async () => {
    expect((await run({ script: copyInput, args: ['a'] })).framed).toMatchObject({ stdout: Buffer.from('a|') })
    expect((await run({ script: copyInput, args: ['a'], secret: true })).framed).toMatchObject({
      stdout: Buffer.from('a|'),
    })
  })

  test('a script cut or damaged on the way is not run: exit 93 and no begin mark', async () => {
    const { command, stdin: parts } = buildCommand(input({ secret: true, args: ['x'] }))
    const stdin = stdinBytes(parts)
    const damaged = Buffer.from(stdin)
    damaged[damaged.length - 5] = 0x21
    for (const bytes of [stdin.subarray(0, stdin.length - 1), stdin.subarray(0, 30), Buffer.alloc(0), damaged]) {
      const ended = await runLocally({ command, stdin: bytes })
      expect(ended.code).toBe(93)
      expect(ended.stdout.length).toBe(0)
    }
  })

  test.each([
    ['the exit of main', 'main() { exit 7; }\nmain "$@" </dev/null\n', 7],
    ['the status of its last command', 'main() { false; }\nmain "$@" </dev/null\n', 1],
    ['set -e inside main', 'main() { set -e; false; echo not here; }\nmain "$@" </dev/null\n', 1],
    ['set -e before main', 'set -e\nmain() { false; echo not here; }\nmain "$@" </dev/null\n', 1],
    ['an unset variable under set -u', 'set -u\nmain() { echo "$nope"; }\nmain "$@" </dev/null\n', 2],
    ['a signal', 'main() { sh -c \'kill -TERM $$\'; }\nmain "$@" </dev/null', 143],
  ])('%s is the code in the trailer and of the command', async (_, script, code) => {
    const { framed, ended } = await run({ script })
    expect(framed).toMatchObject({ kind: 'complete', code, stdout: Buffer.alloc(0) })
    expect(ended.code).toBe(code)
  })

  test('a trap of main runs and does not touch the trailer', async () => {
    const { framed } = await run({ script: 'main() { trap "echo bye" EXIT; exit 4; }\nmain "$@" </dev/null\n' })
    expect(framed).toMatchObject({ kind: 'complete', code: 4, stdout: Buffer.from('bye\n') })
  })

  test('a syntax error in the script is not an answer', async () => {
    const { framed, ended } = await run({ script: 'main() { if; }\nmain "$@" </dev/null\n' })
    expect(framed.kind).toBe('cut')
    expect(ended.code).not.toBe(0)
  })

  test('main speaks the C locale and its two streams stay apart', async () => {
    const { framed } = await run({ script: 'main() { echo "$LC_ALL"; echo err >&2; }\nmain "$@" </dev/null\n' })
    expect(framed).toMatchObject({ stdout: Buffer.from('C\n'), stderr: Buffer.from('err\n') })
  })
})

test.each(['echo hi\n', 'main "$@" </dev/null; true\n', ' main "$@"\n', 'main "$@" < /dev/null\n', ''])(
  'a script that does not end in its main line is refused: %j',
  (script) => {
    expect(() => buildCommand(input({ script }))).toThrow(/cannot be composed/)
  },
)

test('a payload for a script that would not read it is refused', () => {
  expect(() => buildCommand(input({ payload: Buffer.from('x') }))).toThrow(/does not read its standard input/)
})

const wire = (over: Partial<CommandInput>): [string, Uint8Array | undefined] => {
  const { command, stdin } = buildCommand(input(over))
  return [command, stdin && stdinBytes(stdin)]
}
