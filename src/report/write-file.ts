import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** A reader sees the old file or the whole new one, never a part. */
export const writeFileAtomically = async (file: string, text: string): Promise<void> => {
  const temporary = join(dirname(file), `.${basename(file).slice(0, 100)}.${randomUUID()}`)
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true })
    await rename(temporary, file)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}
