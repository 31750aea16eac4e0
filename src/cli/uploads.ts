import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Content } from '../transport/upload/content.ts'
import { createUploads, type Uploads } from '../transport/upload/uploads.ts'
import type { CliContext } from './context.ts'
import { releaseCache } from './prepare-releases.ts'
import type { RunOptions } from './run-options.ts'

/** How this run brings big files to hosts. What an earlier one fetched is what hosts may have that a release is like. */
export const uploadsOf = (context: CliContext, { uploadForks, uploadLimit }: RunOptions): Uploads =>
  createUploads({
    forks: uploadForks,
    bytesPerS: uploadLimit,
    directory: tmpdir(),
    baseOf: (sha256) => contentAt(join(releaseCache(context), sha256), sha256),
  })

/** Its content is not looked at: were it another, the host would notice that what comes out is not the file. */
const contentAt = async (file: string, sha256: string): Promise<Content | null> => {
  try {
    const { size } = await stat(file)
    return { file, sha256, size }
  } catch {
    return null
  }
}
