import type { ExecInput, ExecRequest } from '../../src/transport/connection.ts'
import { askTokenOf } from './decode-command.ts'

export interface Talked {
  readonly password: string
  readonly stdin: Buffer
}

/**
 * A sudo that asks once, takes any password and runs the loader. It is strict about what it is told and when: nothing
 * before its question, one line in answer, nothing more before the loader is ready.
 */
export const talkAsSudo = async (command: string, talk: NonNullable<ExecRequest['talk']>): Promise<Talked> => {
  const askToken = askTokenOf(command)
  if (askToken === undefined) throw new Error('a talk, and no question of ours in the command')
  const written: Buffer[] = []
  const ended = Promise.withResolvers<void>()
  const input: ExecInput = {
    write: async (bytes) => void written.push(Buffer.from(bytes)),
    end: () => ended.resolve(),
    fail: (error) => ended.reject(error),
  }
  const partner = talk(input)
  const say = (text: string): void => partner.stderr?.(Buffer.from(text))
  const taken = (): string => Buffer.concat(written.splice(0)).toString()
  say('We trust you have received the usual lecture.\n\n')
  if (taken() !== '') throw new Error('written before sudo asked')
  say(`[drover%${askToken},deploy]`)
  const line = taken()
  if (!/^[^\n]*\n$/.test(line)) throw new Error('the answer is not one line')
  say(`\x1eR ${askToken}\n`)
  await ended.promise
  return { password: line.slice(0, -1), stdin: Buffer.concat(written) }
}
