import { randomUUID } from 'node:crypto'
import { link, open, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Writes a file that is not there yet, whole or not at all, and for its owner alone. Rejects with EEXIST where it is there. */
export const writeNewFile = async (file: string, bytes: Uint8Array, linking: typeof link = link): Promise<void> => {
  const temporary = join(dirname(file), `.drover.${randomUUID()}`)
  try {
    await writeFile(temporary, bytes, { mode: 0o600, flag: 'wx', flush: true })
    // A rename would go over what has come there meanwhile.
    const linked = await linking(temporary, file).then(
      () => true,
      (thrown: NodeJS.ErrnoException) => {
        if (thrown.code === 'EEXIST' || thrown.code === 'ENOSPC') throw thrown
        return false
      },
    )
    if (linked) return
  } finally {
    await rm(temporary, { force: true })
  }
  await writeInPlace(file, bytes)
}

/** For file systems without hard links, such as FAT and many shares. */
const writeInPlace = async (file: string, bytes: Uint8Array): Promise<void> => {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
    await handle.close()
  } catch (thrown) {
    await handle.close().catch(() => undefined)
    await rm(file, { force: true })
    throw thrown
  }
}
