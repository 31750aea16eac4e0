import type { Prompt } from 'ssh2'
import { printable } from '../../printable.ts'

/** One round of a keyboard-interactive login, in the server's words. */
export interface PromptRound {
  readonly name: string
  readonly instructions: string
  readonly prompts: readonly Prompt[]
}

export type RoundKind = 'password' | 'change-password' | 'question'

// PAM asks in English unless sshd runs in another locale.
const password =
  /passwor[dt]|passphrase|passwd|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|lösenord|пароль|密码|パスワード|암호/i
// A one-time password is another thing, and so is the one that is to be chosen.
const other = /one.?time|\botp\b|oath|token|code|verification|second|factor|\bpin\b|duo|yubi|response|challenge/i
const change = /\bnew\b|retype|repeat|\bcurrent\b|expired|change your|required to change|neues|nouveau/i

/** Our password answers one question alone: a single hidden one that asks for a password and for nothing else. */
export const kindOfRound = ({ name, instructions, prompts }: PromptRound): RoundKind => {
  const [only, ...more] = prompts
  const words = [name, instructions, ...prompts.map(({ prompt }) => prompt)].join(' ')
  const isAboutPassword = prompts.some(({ prompt }) => password.test(prompt))
  if (isAboutPassword && change.test(words)) return 'change-password'
  if (only === undefined || more.length > 0 || only.echo !== false) return 'question'
  return isAboutPassword && !other.test(words) ? 'password' : 'question'
}

const longest = 300

/** What a server asks, fit for a terminal and for an error. */
export const promptText = (...words: readonly string[]): string => {
  const text = printable(
    words
      .map((word) => word.trim())
      .filter(Boolean)
      .join(' ')
      .replace(/\s+/g, ' '),
  )
  return text.length > longest ? `${text.slice(0, longest)}...` : text
}
