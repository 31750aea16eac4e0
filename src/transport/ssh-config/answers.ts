import pLimit from 'p-limit'
import { DroverError } from '../../errors.ts'
import { answerWithoutSsh } from './answer-without-ssh.ts'
import { type Answer, askSsh, isLoop } from './ask-ssh.ts'
import type { SshConfigSource } from './config-source.ts'
import type { ConfigItem } from './config-tree.ts'
import { allItems } from './config-tree.ts'
import { type Destination, type Evaluated, evaluate, hasCriterion } from './evaluate.ts'

/** ssh clients that look at the files at the same time. */
const atOnce = 4

export interface AnswersOptions {
  readonly items: readonly ConfigItem[]
  readonly source: SshConfigSource
  readonly program: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether the answer about one host holds for every host with the same signature. */
  readonly agrees: (answer: Answer, own: Evaluated, destination: Destination) => boolean
}

interface Answered {
  readonly answer: Answer
  readonly own: Evaluated
}

export interface Answers {
  of(destination: Destination): Promise<Answered>
  /** How many times ssh was asked. */
  readonly asked: number
  /** There is no ssh client on this machine. */
  readonly isWithoutSsh: boolean
}

/**
 * ssh is asked once for all hosts that the files cannot tell apart: ten thousand hosts and three Host lines are a
 * handful of processes. Where only ssh can tell them apart, it is asked for each.
 */
export const createAnswers = ({ items, source, program, env, agrees }: AnswersOptions): Answers => {
  const limit = pLimit(atOnce)
  const dependsOnUser = hasCriterion(items, 'user')
  const isEmpty = !allItems(items).some(({ kind }) => kind === 'set')
  const classes = new Map<string, Promise<{ answer: Answer; isShared: boolean } | { loop: true }>>()
  let asked = 0
  let isWithoutSsh = false

  const ask = async (own: Evaluated, destination: Destination): Promise<Answer> => {
    if (isEmpty || isWithoutSsh) return answerWithoutSsh(own)
    return limit(async () => {
      if (isWithoutSsh) return answerWithoutSsh(own)
      asked += 1
      const user = dependsOnUser ? destination.user : undefined
      const answer = await askSsh({ program, source, env }, { name: destination.name, user })
      if (answer === null) isWithoutSsh = true
      return answer ?? answerWithoutSsh(own)
    })
  }

  const askForAll = async (own: Evaluated, destination: Destination) => {
    try {
      const answer = await ask(own, destination)
      return { answer, isShared: !isWithoutSsh && !isEmpty && agrees(answer, own, destination) }
    } catch (error) {
      // A matter of this name, and perhaps of no other.
      if (error instanceof DroverError && isLoop(error)) return { loop: true } as const
      throw error
    }
  }

  return {
    of: async (destination) => {
      const own = evaluate(items, destination)
      if (!own.isCertain || isEmpty || isWithoutSsh) return { own, answer: await ask(own, destination) }
      const known = classes.get(own.signature)
      const first = known ?? askForAll(own, destination)
      if (known === undefined) classes.set(own.signature, first)
      const result = await first
      if ('answer' in result && (known === undefined || result.isShared)) return { own, answer: result.answer }
      return { own, answer: await ask(own, destination) }
    },
    get asked() {
      return asked
    },
    get isWithoutSsh() {
      return isWithoutSsh
    },
  }
}
