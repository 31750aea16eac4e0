import { createHash } from 'node:crypto'
import { DroverError } from '../../errors.ts'
import { octalEscape } from '../../quote.ts'
import { answerOf, type Become } from '../become/become.ts'
import { becomeWords, onTerminal, readyCommand } from '../become/become-command.ts'
import type { ScriptCall } from './payload.ts'
import { composePayload } from './payload.ts'

export interface CommandInput extends ScriptCall {
  /** The run and what it does here: the readable label in the host's auth and sudo logs. */
  readonly run: string
  readonly verb: string
  readonly become: Become | null
  /** Random for each exec, another than the frame's: it tells sudo's question to us from anything the host prints. */
  readonly askToken: string
  /** Give the command a terminal, which sudo may insist on. */
  readonly terminal?: boolean
  /** Bytes for the script's standard input. Those that come one after the other are asked for anew where it is run twice. */
  readonly payload?: Uint8Array | AsyncIterable<Uint8Array>
  /** The script's text or arguments hold a secret, which argv would show to every user of the host. */
  readonly secret?: boolean
}

export interface RemoteCommand {
  readonly command: string
  /** Absent: the command reads nothing. */
  readonly stdin?: readonly Uint8Array[] | AsyncIterable<Uint8Array>
}

// Linux takes 128 KiB for one argument, and the login shell gets the whole command line as one.
const maxArgumentCommand = 96 * 1024

/** Exit status of the loader when the script that arrived is not the script that was sent. */
export const damagedScriptExit = 93

const argumentDecoder = 'x=$(printf %b "$1"); shift; eval "$x"'

// dd and not head: some implementations of `head -c` read ahead and swallow the payload that follows the script.
const stdinLoader =
  // The loader needs dd and sha256sum, whatever the login or sudo left of PATH.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the braces are the shell's
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; s=$(dd bs="$1" count=1 iflag=fullblock 2>/dev/null; echo .); s=${s%.}; d=$(printf %s "$s" | sha256sum); ' +
  `[ "$d" = "$2  -" ] || { echo "drover: the script arrived cut or damaged" >&2; exit ${damagedScriptExit}; }; ` +
  'set --; eval "$s"'

/** A command line that means the same to every login shell, and the bytes it expects on standard input. */
export const buildCommand = (input: CommandInput): RemoteCommand => {
  const label = `: drover ${labelWord(input.run)} ${labelWord(input.verb)}`
  const { text, readsStdin } = composePayload(input)
  if (input.payload !== undefined && !readsStdin) {
    throw invalid(`the script of ${input.verb} gets a payload but does not read its standard input`)
  }
  if (input.become === null && input.payload === undefined && input.secret !== true) {
    const command = `exec /bin/sh -c '${label}; ${argumentDecoder}' drover '${octalEscape(text)}'`
    if (command.length < maxArgumentCommand) return { command }
  }
  const script = Buffer.from(text)
  const digest = createHash('sha256').update(script).digest('hex')
  const root = becomeWords(input.become, input.askToken)
  const ready = answerOf(input.become) === undefined ? '' : readyCommand(input.askToken)
  const command = `exec ${root}/bin/sh -c '${label}; ${ready}${stdinLoader}' drover ${script.length} ${digest}`
  return {
    command: input.terminal === true ? onTerminal(command, label) : command,
    stdin: withPayload(script, input.payload),
  }
}

const withPayload = (script: Buffer, payload: CommandInput['payload']): NonNullable<RemoteCommand['stdin']> => {
  if (payload === undefined) return [script]
  return payload instanceof Uint8Array ? [script, payload] : followed(script, payload)
}

async function* followed(script: Buffer, payload: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield script
  yield* payload
}

const labelWord = (word: string): string => {
  if (/^[A-Za-z0-9._-]+$/.test(word)) return word
  throw invalid(`${JSON.stringify(word)} cannot stand in a command label`)
}

const invalid = (why: string): DroverError =>
  new DroverError({
    code: 'internal',
    message: `A remote command cannot be built: ${why}.`,
    remedy: 'This is a fault in drover. Report it.',
  })
