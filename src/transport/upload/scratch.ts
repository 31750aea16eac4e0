import { lstat, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder of this run on this machine, made when it is first needed. */
export interface Scratch {
  /** Where a file of that name may be made. */
  path(name: string): Promise<string>
  /** Removes it with all that is in it. */
  close(): Promise<void>
}

const prefix = 'drover-upload-'
const staleMs = 24 * 3600 * 1000

/** `directory`: where the folder may be made, and where those of runs that were killed are looked for. */
export const createScratch = (directory: string): Scratch => {
  const swept = sweep(directory)
  let folder: Promise<string> | undefined
  return {
    path: async (name) => {
      folder ??= mkdtemp(join(directory, prefix))
      const made = await folder
      // By this others see that it is in use, however long the run takes.
      const now = new Date()
      await utimes(made, now, now)
      return join(made, name)
    },
    close: async () => {
      await swept
      const made = await folder?.catch(() => undefined)
      if (made !== undefined) await rm(made, { recursive: true, force: true })
    },
  }
}

/** What is in the way of it is no reason for a run to fail: the next one tries again. */
const sweep = async (directory: string): Promise<void> => {
  const names = await readdir(directory).catch(() => [])
  await Promise.allSettled(
    names.filter((name) => name.startsWith(prefix)).map((name) => removeIfStale(join(directory, name))),
  )
}

const removeIfStale = async (path: string): Promise<void> => {
  const found = await lstat(path)
  const isOurs = found.isDirectory() && found.uid === process.getuid?.()
  if (isOurs && found.mtimeMs < Date.now() - staleMs) await rm(path, { recursive: true, force: true })
}
