import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import type { BundleFile } from './bundle.ts'

/** The files below one directory, as the bytes of a .tar.gz. */
export const archiveOf = async (directory: string, files: readonly BundleFile[], mtime: Date): Promise<Buffer> => {
  const tar = pack()
  for (const { file, text } of files) tar.entry({ name: `${directory}/${file}`, mode: 0o600, mtime }, text)
  tar.finalize()
  return buffer(tar.pipe(createGzip()))
}
