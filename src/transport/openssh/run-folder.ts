import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Askpass } from './askpass.ts'
import { startAskpass } from './askpass.ts'
import type { Environment } from './environment.ts'
import type { Keeper } from './keeper.ts'
import { startKeeper } from './keeper.ts'
import { makePrivateFolder, nameFor, removeFolder } from './private-folder.ts'

/** What all connections of one run share: a private folder, who answers ssh's questions, and who cleans up. */
export interface RunFolder {
  readonly askpass: Askpass
  readonly keeper: Keeper
  /** A path of its own for each call, short enough for a socket. */
  path(...identity: readonly string[]): string
  close(): Promise<void>
}

export const openRunFolder = async (env: Environment): Promise<RunFolder> => {
  const folder = makePrivateFolder(env)
  const keeper = startKeeper(folder)
  const askpass = await startAskpass(folder)
  let count = 0
  return {
    askpass,
    keeper,
    path: (...identity) => {
      count += 1
      return join(folder, nameFor(...identity, String(count)))
    },
    close: async () => {
      askpass.close()
      await keeper.close()
      await removeFolder(folder)
    },
  }
}

/** A handshake is milliseconds of a core, and waits for the far side in between; more at once only wait for each other. */
export const startsAtOnce = (cores = availableParallelism()): number => Math.max(8, cores * 4)
