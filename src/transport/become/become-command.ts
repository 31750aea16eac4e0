import { octalEscape } from '../../quote.ts'
import { answerOf, type Become } from './become.ts'

/**
 * The words that start a program as root. sudo's messages are read by drover, hence LC_ALL; `env` sets it in every
 * login shell.
 */
export const becomeWords = (become: Become | null, askToken: string): string => {
  if (become === null) return ''
  if (answerOf(become) === undefined) return `env LC_ALL=C ${become.method} -n -- `
  return `env LC_ALL=C SUDO_PROMPT='${promptSetting(askToken)}' sudo -S -- `
}

/**
 * What sudo is told to ask for the password with. As a variable, since `-p` would have it ask for everything so, for
 * one-time codes too. It prints `%%` as one `%` and `%p` as the user whose password it wants, so that no trace of the
 * command line (`set -x` in a startup file) looks like the question itself.
 */
const promptSetting = (askToken: string): string => `[drover%%${askToken},%p]`

const question = (askToken: string): string => `\\[drover%${askToken},([^\\]\\r\\n]*)\\]`

/** sudo-rs sets our words as they are into a frame of its own, and PAM's question after them. */
const framedQuestion = (askToken: string): string => `\\[sudo: \\[drover%%?${askToken},([^\\]\\r\\n]*)\\]\\] `

/** The question for the password at the end of what was written, and whose password it is, where sudo says so. */
export const questionAtEnd = (text: string, askToken: string): { at: number; user: string | undefined } | null => {
  const own =
    new RegExp(`(?<!\\[sudo: )${question(askToken)}$`).exec(text) ??
    new RegExp(`${framedQuestion(askToken)}Password: $`).exec(text)
  return own && { at: own.index, user: own[1] === '%p' ? undefined : own[1] }
}

/** A shell command that says that the question is over, and that what follows on standard input is for the script. */
export const readyCommand = (askToken: string): string => `printf "\\036R ${askToken}\\012" >&2; `

export const readyMark = (askToken: string): string => `\x1eR ${askToken}\n`

/** Without what drover itself had printed there. */
export const withoutAsk = (text: string, askToken: string): string =>
  text.replace(new RegExp(`${framedQuestion(askToken)}|${question(askToken)}|\\x1eR ${askToken}\\n`, 'g'), '')

/**
 * The same command for a sudo that runs only where there is a terminal (`requiretty`). script(1) makes one, which the
 * command has as its controlling terminal and for nothing else: its three streams stay those of the connection, so
 * bytes are not translated, standard error stays apart, and no message to all terminals gets into an answer.
 */
export const onTerminal = (command: string, label: string): string => {
  const inner = `${command} <&3 >&4 2>&5 3<&- 4>&- 5>&-`
  const outer = 'x=$(printf %b "$1"); exec 3<&0 4>&1 5>&2; exec env SHELL=/bin/sh script -qec "$x" /dev/null'
  return `exec /bin/sh -c '${label}; ${outer} </dev/null >/dev/null' drover '${octalEscape(inner)}'`
}
