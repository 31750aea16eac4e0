/**
 * A host for unit tests: strict, scripted, and without a clock.
 *
 *     const fake = createFakeConnection({
 *       inspect: answer('os=linux\n'),                       // one answer, for one exec of that verb
 *       apply: [answer('', { code: 3, stderr: 'no\n' }), answer('done\n')],     // the first, then the second
 *       unlock: always(answer('')),                          // any number of execs
 *       probe: (call) => answer(call.args[0] ?? ''),         // computed, any number of execs
 *     })
 *     await runScript(fake.connection, { run: 'r1', verb: 'inspect', ... })
 *     fake.calls[0]?.args                                    // what arrived: run, verb, args, payload, become, text
 *
 * The verb is the one in the command's label (`drover RUN VERB`); the answer is framed with the token that the
 * command carries, as the real host would do it, so `runScript` is the real one.
 *
 * - A verb that is not scripted, or execs beyond the scripted answers, reject AND fail the test when it ends,
 *   even if the code under test swallows the rejection. Scripted answers that were never used fail it too.
 * - `hold(answer)` answers when told: `const held = hold(answer('x'))`, `await held.reached`, `held.release()`
 *   or `held.fail(error)`. The exec's AbortSignal ends it as `cancelled`. Deadlines never fire here.
 * - `pieces(['a', 'b'])` hands standard output to onStdout in these pieces.
 * - A command that gets a password is asked for it as by a sudo that takes any: `fake.calls[0]?.password`.
 * - `fails(error)` rejects the exec; `lost()` is `connection-lost`, `cut('half')` an answer without its trailer,
 *   `ends(1, 'sudo: a password is required\n')` a command that ended before our script began.
 * - `fake.drop()` loses the connection: everything held and every later exec rejects as `connection-lost`.
 */
import { onTestFinished } from 'vitest'
import type { Host } from '../../src/inventory/host.ts'
import type { Connection, ExecRequest, ExecResult, Stdin } from '../../src/transport/connection.ts'
import type { DecodedCommand } from './decode-command.ts'
import { decodeCommand } from './decode-command.ts'
import type { Answer } from './fake-answers.ts'
import { aborted, lostError } from './fake-answers.ts'
import { fakeHost } from './fake-host.ts'
import { talkAsSudo } from './fake-sudo.ts'

export * from './fake-answers.ts'

type Call = DecodedCommand & { readonly password?: string }
type Script = Answer | readonly Answer[] | ((call: Call) => Answer | Promise<Answer>)

export interface FakeConnection {
  readonly connection: Connection
  readonly calls: readonly Call[]
  readonly isClosed: boolean
  drop(): void
  /** Connected to anew: closed no more. What was scripted goes on where it was. */
  reopen(): void
}

export const createFakeConnection = (scripts: Record<string, Script>, host: Host = fakeHost()): FakeConnection => {
  const calls: Call[] = []
  const faults: string[] = []
  const left = new Map(Object.entries(scripts).map(([verb, script]) => [verb, queueOf(script)]))
  const dropped = Promise.withResolvers<never>()
  dropped.promise.catch(() => undefined)
  let isClosed = false
  let isDropped = false

  const answerTo = async (call: Call): Promise<Answer> => {
    const script = left.get(call.verb)
    const next = typeof script === 'function' ? await script(call) : script?.shift()
    if (next !== undefined) return next
    const fault = `${host.name}: unscripted exec of '${call.verb}' with ${JSON.stringify(call.args)}`
    faults.push(fault)
    throw new Error(fault)
  }

  const exec = async (request: ExecRequest): Promise<ExecResult> => {
    if (isClosed) faults.push(`${host.name}: exec on a closed connection`)
    if (isClosed || isDropped) throw lostError()
    const call = await received(request)
    calls.push(call)
    const answer = await answerTo(call)
    return Promise.race([answer.give(call, request), dropped.promise, aborted(request.signal)])
  }

  onTestFinished(() => {
    const unused = [...left].filter(([, queue]) => typeof queue !== 'function' && queue.length > 0)
    faults.push(...unused.map(([verb]) => `${host.name}: '${verb}' was scripted and never run`))
    if (faults.length > 0) throw new Error(faults.join('\n'))
  })

  return {
    connection: {
      host,
      serverVersion: 'SSH-2.0-Fake',
      exec,
      close: async () => {
        isClosed = true
      },
    },
    calls,
    get isClosed() {
      return isClosed
    },
    reopen: () => {
      isClosed = false
    },
    drop: () => {
      isDropped = true
      dropped.reject(lostError())
    },
  }
}

/** What arrived; for a command that asks for a password, after a talk with the sudo of this host. */
const received = async (request: ExecRequest): Promise<Call> => {
  if (request.talk === undefined) return decodeCommand(request.command, await arrived(request.stdin))
  const { password, stdin } = await talkAsSudo(request.command, request.talk)
  return { ...decodeCommand(request.command, stdin), password }
}

/** What comes piece by piece has to come without an answer of the host. */
const arrived = async (stdin: Stdin = []): Promise<Stdin> => {
  if (!(Symbol.asyncIterator in stdin)) return stdin
  const pieces: Uint8Array[] = []
  for await (const piece of stdin) pieces.push(piece)
  return pieces
}

const queueOf = (script: Script): Answer[] | ((call: Call) => Answer | Promise<Answer>) => {
  if (typeof script === 'function') return script
  return 'give' in script ? [script] : [...script]
}
