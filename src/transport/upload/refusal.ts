import { DroverError } from '../../errors.ts'
import type { Upload } from './content.ts'
import { uploadFailed } from './far-side.ts'
import { unfitPlace } from './room.ts'

const isNoSpace = (words: string): boolean => /No space left on device|Disk quota exceeded/.test(words)

/** Why the host did not take the file, by the exit code of `receive.sh`. */
export const refusal = (upload: Upload, code: number, words: string): DroverError => {
  const { path } = upload
  if (code === 94) return unfitPlace(upload, words, '')
  if (code === 75)
    return new DroverError({
      code: 'locked',
      message: `Another run is just bringing the same file to the host, for ${path}${words === '' ? '' : `: ${words}`}.`,
      remedy: 'Wait for it to end, then run again.',
    })
  if (code === 96 || (code === 91 && isNoSpace(words)))
    return new DroverError({
      code: 'no-space',
      message: `The disk of the host became full while ${path} was brought there. ${code === 96 ? 'What had arrived was removed.' : 'No room or no inode is left.'}`,
      remedy: 'Make room there, then run again.',
      ...(words !== '' && { detail: words }),
    })
  return uploadFailed(path, code === 91 ? 'it could not be written' : `exit code ${code}`, words)
}
