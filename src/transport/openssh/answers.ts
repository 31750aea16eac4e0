import type { Host } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'
import type { Ask } from '../login/ask.ts'
import type { Answerer } from './askpass.ts'

export interface AnswerOptions {
  readonly host: Host
  readonly password: Secret | undefined
  /** Whether the password may be given now; it is waited for. Absent: it may. */
  readonly mayGive?: (() => Promise<boolean>) | undefined
  readonly passphrase: (file: string) => Promise<string | undefined>
  /** For what only a person knows, such as a one-time code; undefined: there is nobody. */
  readonly ask: Ask | undefined
  /** `user@name` as ssh calls the far side of this very connection; undefined: it has not said yet. */
  readonly login: () => string | undefined
}

/**
 * Gives a secret for a question that is about it, once, and for no other. A hop that the user's own configuration puts
 * before the host asks through the same program, and must not get the host's password.
 */
export const createAnswerer = (options: AnswerOptions): Answerer => {
  const { host, password, mayGive, passphrase, ask, login } = options
  let isPasswordGiven = false
  const opened = new Set<string>()
  return async (prompt) => {
    const file = keyFileIn(prompt)
    if (file !== undefined) {
      if (!host.identityFiles.includes(file) || opened.has(file)) return undefined
      opened.add(file)
      return passphrase(file)
    }
    if (asksForPassword(prompt, login())) {
      if (password === undefined || isPasswordGiven) return undefined
      isPasswordGiven = true
      if (mayGive !== undefined && !(await mayGive())) return undefined
      return password.reveal()
    }
    if (ask === undefined || !prompt.startsWith(`(${login()}) `)) return undefined
    return (await ask({ text: prompt, isHidden: true })) ?? undefined
  }
}

const keyFileIn = (prompt: string): string | undefined =>
  /^Enter passphrase for (?:key )?'?([^']+?)'?: ?$/.exec(prompt)?.[1]

/** `user@name's password: ` is ssh's own; `(user@name) Password: ` is the far side's, marked by ssh. */
const asksForPassword = (prompt: string, login: string | undefined): boolean => {
  if (login === undefined) return false
  if (prompt.trimEnd() === `${login}'s password:`) return true
  const mark = `(${login}) `
  return prompt.startsWith(mark) && isPasswordWord(prompt.slice(mark.length))
}

/** A second factor must not get the password, which would be wrong there and might be logged. */
const isPasswordWord = (text: string): boolean =>
  /pass|kennwort|contrase|mot de passe|senha|парол|密码|密碼|パスワード|암호/i.test(text) &&
  !/one.?time|otp|token|code/i.test(text)
