import { type DroverError, toDroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'
import type { ExecInput, ExecTalk } from '../connection.ts'
import type { PasswordGate, PasswordTry, PasswordVerdict } from '../login/password-gate.ts'
import { questionAtEnd, readyMark } from './become-command.ts'

// A question is one line; what a startup file prints before it may be endless.
const keptBytes = 16 * 1024

/** Nobody is there to answer another question. PAM says what it wants within this time, or never. */
const strangerMs = 20_000

/** One that is not ours, or ours once more. */
export type Question = 'other' | 'again'

export interface TalkOptions {
  readonly host: Pick<Host, 'name' | 'user'>
  readonly password: Secret
  readonly gate?: PasswordGate | undefined
  /** The error for a password that other hosts have refused. */
  readonly refused: (by: readonly string[]) => DroverError
  /** The error for what is not answered, and what was said to it. */
  readonly failure: (question: Question, said: Buffer) => DroverError
  readonly askToken: string
  /** The script and what it reads. */
  readonly stdin: readonly Uint8Array[] | AsyncIterable<Uint8Array>
}

/**
 * Answers sudo's question, then sends the script. The password is written once, and only after our own question; the
 * script only after the loader has said that it runs, so neither ever gets what is meant for the other.
 */
export class BecomeTalk {
  readonly #options: TalkOptions
  #input: ExecInput | undefined
  /** What standard error ends with, since our last move. */
  #heard = ''
  #isReady = false
  #askedFor: string | undefined
  #stranger: NodeJS.Timeout | undefined
  #try: PasswordTry | undefined
  readonly #left = new AbortController()

  constructor(options: TalkOptions) {
    this.#options = options
  }

  /** Whose password was given, if it was. */
  get answeredFor(): string | undefined {
    return this.#askedFor
  }

  /** What was said and not answered. */
  get heard(): Buffer {
    return bytesOf(this.#heard)
  }

  readonly start = (input: ExecInput): ExecTalk => {
    this.#input = input
    return { stderr: (chunk) => this.#hear(chunk) }
  }

  /** To be called when the command has ended, with what is to be said of the password. */
  stop(verdict: PasswordVerdict = 'unknown'): void {
    this.#try?.(verdict)
    this.#left.abort()
    clearTimeout(this.#stranger)
    this.#isReady = true
  }

  #hear(chunk: Uint8Array): void {
    if (this.#isReady) return
    clearTimeout(this.#stranger)
    // One character for each byte: a question may be cut within one.
    this.#heard = (this.#heard + Buffer.from(chunk).toString('latin1')).slice(-keptBytes)
    if (this.#heard.includes(readyMark(this.#options.askToken))) {
      this.#isReady = true
      this.#try?.('right')
      void this.#send()
      return
    }
    const question = questionAtEnd(this.#heard, this.#options.askToken)
    if (question !== null) this.#answer(question)
    else if (!/(^|\n)$/.test(this.#heard))
      this.#stranger = setTimeout(() => this.#fail('other', this.#heard), strangerMs)
  }

  #answer({ at, user }: { at: number; user: string | undefined }): void {
    const { host, password } = this.#options
    if (this.#askedFor !== undefined) {
      this.#fail('again', this.#heard.slice(0, at))
      return
    }
    this.#heard = ''
    this.#askedFor = user === undefined ? host.user : bytesOf(user).toString()
    if (this.#options.gate === undefined) this.#give(password)
    else void this.#giveInTurn(password, this.#options.gate)
  }

  #give(password: Secret): void {
    void this.#input?.write(Buffer.from(`${password.reveal()}\n`))
  }

  async #giveInTurn(password: Secret, gate: PasswordGate): Promise<void> {
    const { host, refused } = this.#options
    try {
      const leave = await gate.enter(host, this.#left.signal)
      if (typeof leave === 'function') {
        this.#try = leave
        this.#give(password)
        return
      }
      this.stop()
      this.#input?.fail(refused(leave.refusedBy))
    } catch {
      // The command has ended before its turn came.
    }
  }

  #fail(question: Question, said: string): void {
    this.stop()
    this.#input?.fail(this.#options.failure(question, bytesOf(said)))
  }

  async #send(): Promise<void> {
    try {
      for await (const bytes of this.#options.stdin) await this.#input?.write(bytes)
      this.#input?.end()
    } catch (thrown) {
      this.#input?.fail(toDroverError(thrown))
    }
  }
}

/** One character is one byte here. */
const bytesOf = (heard: string): Buffer => Buffer.from(heard, 'latin1')
