import { rollbackSource } from '../changes/rollback-source.ts'
import { printableText as printable } from '../printable.ts'
import { runScript } from '../transport/script/run-script.ts'
import type { Lane } from './lane.ts'
import { outlive } from './outlive.ts'

const maxBytes = 4 * 1024 * 1024

/** What the host answered: the line that a rollback leaves or an owner's, and what its journal says. */
export interface RollbackAnswer {
  readonly code: number
  readonly line: string
  readonly words: string
}

/** Says on the host that what this run armed is healthy. */
export const confirmRollback = (lane: Lane): Promise<RollbackAnswer> =>
  ask(lane, { verb: 'confirm', script: 'confirm', args: [lane.run.id, lane.run.operator], deadlineS: 120 })

/** Fires what this run armed, and waits until it is over. */
export const fireRollback = (lane: Lane, withinS: number): Promise<RollbackAnswer> =>
  ask(lane, { verb: 'rollback', script: 'fire-now', args: [lane.run.id, String(withinS)], deadlineS: withinS + 180 })

interface Asked {
  readonly verb: 'confirm' | 'rollback'
  readonly script: Parameters<typeof rollbackSource>[0]
  readonly args: readonly string[]
  readonly deadlineS: number
}

/** Both may be asked again where the connection broke: the host knows what has been decided. */
const ask = async (lane: Lane, { verb, script, args, deadlineS }: Asked): Promise<RollbackAnswer> => {
  const deadlineMs = deadlineS * 1000
  const answer = await outlive(lane, () =>
    lane.exec(verb, () => {
      lane.watch.at(`${verb}: waiting for the host`, deadlineMs)
      const { run, become, connection } = lane
      return runScript(connection, {
        ...{ run: run.id, verb, script: rollbackSource(script), args, become, deadlineMs, maxBytes },
        signal: run.hardStop,
      })
    }),
  )
  const [line = '', ...journal] = printable(answer.stdout.toString('utf8')).trim().split('\n')
  const errors = printable(answer.stderr.toString('utf8')).trim()
  const words = [...journal, errors].filter((text) => text !== '').join('\n')
  return { code: answer.code, line: line.trim(), words }
}
