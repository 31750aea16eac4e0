import { open, rm, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const waitMs = 5_000
const pollMs = 20
/** The work under the lock takes milliseconds: a lock this old was left by a process that died. */
const abandonedMs = 30_000

/** Runs `work` while holding a lock file that only one process can create. */
export const withFileLock = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  await acquire(path)
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

const acquire = async (path: string): Promise<void> => {
  const until = Date.now() + waitMs
  for (;;) {
    try {
      await (await open(path, 'wx', 0o600)).close()
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    if (await isAbandoned(path)) await rm(path, { force: true })
    else if (Date.now() > until) throw new Error(`${path} is held by another process`)
    else await sleep(pollMs)
  }
}

const isAbandoned = async (path: string): Promise<boolean> => {
  try {
    return Date.now() - (await stat(path)).mtimeMs > abandonedMs
  } catch {
    return false
  }
}
