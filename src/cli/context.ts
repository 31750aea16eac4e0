import type { Tasks } from '../runner/plan.ts'
import type { Transport } from '../transport/connection.ts'
import type { HostKeyScanner } from '../transport/host-keys/host-key-scan.ts'
import type { Ask } from '../transport/login/ask.ts'
import type { TransportOptions } from '../transport/transport.ts'

export interface TextOutput {
  readonly write: (text: string) => void
  readonly isTTY: boolean
  readonly columns: number | undefined
}

/** All that the command line has of the world around it, so that tests run it in process. */
export interface CliContext {
  /** What follows the program's name. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  /** The home directory in the account's entry, where ssh looks for its files whatever HOME says. */
  readonly accountHome: string
  readonly user: string
  readonly workstation: string
  readonly stdout: TextOutput
  readonly stderr: TextOutput
  /** Asks whoever sits at the terminal. */
  readonly ask: Ask
  /** Whether somebody does. */
  readonly hasTerminal: () => boolean
  /** Calls the listener at each SIGINT or SIGTERM until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void
  /** Ends the process without waiting for anything. */
  readonly exitNow: (code: number) => void
  readonly now: () => Date
  /** By the proxy of the environment, if there is one. */
  readonly fetch: typeof fetch
  readonly version: string
  /** Where the playbooks that come with drover are. */
  readonly playbooksDir: string
  /** What takes longest to start, for the verbs that need it: nobody shall wait for it who only asks for help. */
  readonly load: () => Promise<Machinery>
}

interface Machinery {
  readonly tasks: Tasks
  readonly createTransport: (options: TransportOptions) => Transport
  readonly createScanner: (options: TransportOptions) => HostKeyScanner
}

/** With all that a verb needs which goes to hosts or reads playbooks. */
export interface WholeContext extends CliContext, Machinery {}
