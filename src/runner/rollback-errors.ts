import type { ErrorDetails } from '../errors.ts'
import { readRolledBack } from '../facts/armed.ts'
import { notUpRemedy, undoingRemedy } from '../tasks/agent/rollback-words.ts'

/** What a script of a rollback answered. */
export interface Told {
  readonly code: number
  /** The line that the rollback left, or that says whose the armed one is. */
  readonly line: string
  readonly words: string
}

/** Whose rollback it is, in words that go on after "the rollback of". */
export interface Rollback {
  readonly host: string
  readonly of: string
}

const look = (host: string): string =>
  `drover status -l ${host} shows what the host runs; journalctl -u drover-rollback.service there, what was done.`

const wordsOf = (words: string): { detail?: string } => (words === '' ? {} : { detail: words })

/** What a fired rollback that was not carried out came to, by the exit code of fire-now.sh; null: the host is back. */
export const fireError = ({ code, line, words }: Told, { host, of }: Rollback): ErrorDetails | null => {
  switch (code) {
    case 0:
      return null
    case 4:
      return notUp(words, { host, of })
    case 5:
      return {
        code: 'rollback-superseded',
        message: `The rollback of ${of} undid nothing: somebody else has changed meanwhile what it would undo.`,
        remedy: `Nothing is armed any more. ${look(host)} Then decide by hand which of the two is wanted.`,
        ...wordsOf(words),
      }
    case 6:
      return {
        code: 'rollback-failed',
        message: `The rollback of ${of} has been begun and is not over yet; the host goes on trying by itself.`,
        remedy: `See what holds it up. ${look(host)}`,
        ...wordsOf(words),
      }
    case 3:
      return {
        code: 'rollback-failed',
        message: `No rollback of ${of} is armed on the host any more, so none was fired: somebody else has confirmed it, or removed it.`,
        remedy: `${look(host)} journalctl -t drover there, who else was at work.`,
        ...wordsOf(words),
      }
    case 8:
      return anothers(line, words, { host, of })
    default:
      return {
        code: 'rollback-failed',
        message: `The rollback of ${of} could not be fired (exit code ${code}).`,
        remedy: `Where it is armed, the host fires it by itself. ${look(host)}`,
        ...wordsOf([line, words].filter((text) => text !== '').join('\n')),
      }
  }
}

/** Why nothing was confirmed, by the exit code of confirm.sh; null: it was. */
export const confirmError = ({ code, line, words }: Told, { host, of }: Rollback): ErrorDetails | null => {
  switch (code) {
    case 0:
      return null
    case 7:
      return line === '' ? underWay({ host, of }) : tooLate(line, words, { host, of })
    case 3:
      return {
        code: 'rollback-failed',
        message: `There was no rollback of ${of} to confirm any more: somebody else has confirmed it, or removed it.`,
        remedy: `${look(host)} journalctl -t drover there, who else was at work. Then run again.`,
        ...wordsOf(words),
      }
    case 8:
      return anothers(line, words, { host, of })
    default:
      return {
        code: 'rollback-failed',
        message: `The rollback of ${of} could not be confirmed (exit code ${code}), so the host will undo it.`,
        remedy: `drover confirm -l ${host} tries again. ${look(host)}`,
        ...wordsOf([line, words].filter((text) => text !== '').join('\n')),
      }
  }
}

const anothers = (line: string, words: string, { host, of }: Rollback): ErrorDetails => {
  const [run = '', operator = ''] = line.split(' ')
  return {
    code: 'rollback-failed',
    message: `The rollback that is armed on the host is not that of ${of}: it is that of run ${run || '(unknown)'} by ${operator || 'somebody'}. It was left alone.`,
    remedy: `${look(host)} drover confirm -l ${host} keeps what it guards, drover rollback --now -l ${host} undoes it.`,
    ...wordsOf(words),
  }
}

/** The host has tried often enough, and gives up with all files back. */
const notUp = (words: string, { host, of }: Rollback): ErrorDetails => ({
  code: 'rollback-failed',
  message: `The rollback of ${of} has put all files back, and the agent does not stay up with them either. Nothing is armed any more.`,
  remedy: notUpRemedy(host),
  ...wordsOf(words),
})

const underWay = ({ host, of }: Rollback): ErrorDetails => ({
  code: 'rollback-failed',
  message: `It came too late: the host is already carrying out the rollback of ${of}.`,
  remedy: `${undoingRemedy(host)} ${look(host)}`,
})

/** The host's own timer, a boot or somebody was faster. */
const tooLate = (line: string, words: string, { host, of }: Rollback): ErrorDetails => {
  const { how, at } = readRolledBack(line)
  if (how === 'rolled-back-not-up') {
    const error = notUp(words, { host, of })
    return { ...error, message: `It was not confirmed in time. ${error.message}` }
  }
  if (how !== 'rolled-back')
    return {
      code: 'rollback-superseded',
      message: `It was not confirmed in time, and the rollback of ${of}, fired at ${at}, undid nothing: somebody else had changed what it would undo${how === 'superseded-by-move' ? ' (the agent moved its files)' : ''}.`,
      remedy: `Nothing is armed any more. ${look(host)}`,
      ...wordsOf(words),
    }
  return {
    code: 'rolled-back',
    message: `It was not confirmed in time: the host had undone it by itself at ${at} and is back on what it ran before.`,
    remedy: `The host runs as before and needs nothing. See what took so long, or give it more time, and run again.`,
    ...wordsOf(words),
  }
}
