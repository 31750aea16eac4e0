import type { KeyboardInteractiveCallback, Prompt } from 'ssh2'
import type { Host } from '../../inventory/host.ts'
import type { Question } from './ask.ts'
import type { LoginStop } from './auth-handler.ts'
import { kindOfRound, promptText } from './prompts.ts'

// What a login may ask in all: a password, a code, and room for modules that ask in several steps.
const maxRounds = 8
const maxPrompts = 8

export interface KeyboardOptions {
  readonly host: Host
  /** There is a password that was not sent yet. */
  readonly hasPassword: () => boolean
  /** Null: it must not be sent, and the login has been stopped. */
  readonly takePassword: () => Promise<string | null>
  /** Absent: nobody is there. */
  readonly ask?: ((question: Question) => Promise<string | null>) | undefined
  readonly onQuestion: () => void
  readonly stop: (reason: LoginStop) => void
}

type Listener = (
  name: string,
  instructions: string,
  language: string,
  prompts: Prompt[],
  finish: KeyboardInteractiveCallback,
) => void

/** Answers the rounds of a keyboard-interactive login. What it cannot answer it does not answer wrong: it stops. */
export const createKeyboard = (options: KeyboardOptions): Listener => {
  const { host, hasPassword, takePassword, ask, onQuestion, stop } = options
  let rounds = 0

  const answer = async (name: string, instructions: string, prompts: readonly Prompt[]): Promise<string[] | null> => {
    const kind = kindOfRound({ name, instructions, prompts })
    if (kind === 'change-password') {
      stop({ kind: 'password-expired', words: promptText(name, instructions, ...prompts.map(({ prompt }) => prompt)) })
      return null
    }
    if (kind === 'password' && hasPassword()) {
      const password = await takePassword()
      return password === null ? null : [password]
    }
    onQuestion()
    const answers: string[] = []
    for (const { prompt, echo } of prompts) {
      const question = promptText(name, instructions, prompt)
      const given = (await ask?.({ text: `${host.name} asks: ${question} `, isHidden: echo !== true })) ?? null
      if (given === null) {
        stop({ kind: 'unanswered', question })
        return null
      }
      answers.push(given)
    }
    return answers
  }

  return (name, instructions, _language, prompts, finish) => {
    rounds += 1
    if (rounds > maxRounds || prompts.length > maxPrompts) return stop({ kind: 'endless' })
    answer(name, instructions, prompts).then(
      (answers) => {
        if (answers !== null) finish(answers)
      },
      (error: Error) => stop({ kind: 'failed', error }),
    )
  }
}
