import { createHash } from 'node:crypto'
import type { Stdin } from '../../src/transport/connection.ts'

/** What a command made by `buildCommand` says, read back from what would go over the wire. */
export interface DecodedCommand {
  readonly run: string
  readonly verb: string
  readonly become: boolean
  /** What tells sudo's question, for a command that gets a password. */
  readonly askToken?: string
  /** The command has a terminal of its own. */
  readonly terminal: boolean
  readonly form: 'argument' | 'stdin'
  readonly token: string
  readonly args: readonly string[]
  /** The whole text the host would run. */
  readonly text: string
  /** What follows the script on standard input; null if nothing does. */
  readonly payload: Buffer | null
}

/** Throws if the command is not one of ours, or if the script and its digest do not belong together. */
export const decodeCommand = (line: string, stdin?: Stdin): DecodedCommand => {
  const command = commandOf(line)
  const label = labelPattern.exec(command)
  if (label === null) throw new Error(`not a drover command: ${command.slice(0, 120)}`)
  const { form, text, payload } = readScript(command, stdin)
  const token = /^printf '\\036B ([A-Za-z0-9]+)\\n'/.exec(text)?.[1]
  if (token === undefined) throw new Error(`no frame mark at the beginning of: ${text.slice(0, 120)}`)
  return {
    run: label[3] ?? '',
    verb: label[4] ?? '',
    become: label[1] !== undefined,
    ...(label[2] !== undefined && { askToken: label[2] }),
    terminal: command !== line,
    form,
    token,
    args: readArguments(text),
    text,
    payload,
  }
}

const labelPattern =
  /^exec (env LC_ALL=C (?:SUDO_PROMPT='\[drover%%([A-Za-z0-9]+),%p\]' sudo -S|(?:sudo|doas) -n) -- )?\/bin\/sh -c ': drover ([A-Za-z0-9._-]+) ([A-Za-z0-9._-]+); /

/** What sudo is called with, also where script(1) stands before it. */
const commandOf = (line: string): string => {
  const escaped = / script -qec "\$x" \/dev\/null <\/dev\/null >\/dev\/null' drover '([^']*)'$/.exec(line)?.[1]
  return escaped === undefined ? line : unescapeOctal(escaped).replace(/ <&3 >&4 2>&5 3<&- 4>&- 5>&-$/, '')
}

/** The token in the command of a request that talks, whose script has not come yet. */
export const askTokenOf = (line: string): string | undefined => labelPattern.exec(commandOf(line))?.[2]

type ScriptText = Pick<DecodedCommand, 'form' | 'text' | 'payload'>

const readScript = (command: string, stdin: Stdin | undefined): ScriptText => {
  const loaded = /' drover (\d+) ([0-9a-f]{64})$/.exec(command)
  if (loaded === null) {
    const escaped = /' drover '([^']*)'$/.exec(command)?.[1]
    if (escaped === undefined) throw new Error('no script in the command')
    return { form: 'argument', text: unescapeOctal(escaped), payload: null }
  }
  const bytes = stdinBytes(stdin)
  const script = bytes.subarray(0, Number(loaded[1]))
  if (createHash('sha256').update(script).digest('hex') !== loaded[2]) throw new Error('the script misses its digest')
  const payload = bytes.subarray(script.length)
  return { form: 'stdin', text: script.toString(), payload: payload.length === 0 ? null : payload }
}

export const stdinBytes = (stdin: Stdin = []): Buffer => {
  if (Symbol.asyncIterator in stdin) throw new Error('bytes that come one after the other are not for a fake')
  return Buffer.concat(stdin instanceof Uint8Array ? [stdin] : stdin)
}

const unescapeOctal = (escaped: string): string =>
  Buffer.from(
    escaped.replace(/\\(?:n|0([0-7]{3}))/g, (_, octal: string | undefined) =>
      octal === undefined ? '\n' : String.fromCharCode(Number.parseInt(octal, 8)),
    ),
    'latin1',
  ).toString()

const readArguments = (text: string): string[] => {
  // The first one: the arguments, which may hold anything, come after it.
  const mark = `set +e\n( set "$drover_e"; main`
  const call = text.slice(text.indexOf(mark) + mark.length)
  const args: string[] = []
  let at = 0
  for (;;) {
    const word = /^ ((?:'[^']*'|\\')+)/.exec(call.slice(at))
    if (word === null) return args
    args.push((word[1] ?? '').replace(/'([^']*)'|\\(')/g, (_, quoted: string | undefined, bare) => quoted ?? bare))
    at += word[0].length
  }
}
