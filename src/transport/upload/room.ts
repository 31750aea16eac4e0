import { DroverError } from '../../errors.ts'
import type { Upload } from './content.ts'
import type { Place } from './probe.ts'

/** What the file system needs for itself when it takes a file. */
const spareBytes = 1024 * 1024

/** Why these files cannot be put there; null: they can. Asked before the first byte of the first of them is sent. */
export const refusalOf = (
  wanted: readonly { upload: Upload; place: Place }[],
): { upload: Upload; error: DroverError } | null => {
  const missing = wanted.filter(({ place }) => !place.isStaged)
  for (const { upload, place } of missing) {
    if (place.unfit !== undefined) return { upload, error: unfitPlace(upload, place.directory, place.unfit) }
    if (place.options.includes('ro')) return { upload, error: mountedSo(upload, place, 'read-only') }
    if (upload.isProgram && place.options.includes('noexec'))
      return { upload, error: mountedSo(upload, place, 'noexec') }
  }
  for (const { upload, place } of missing) {
    const beside = missing.filter((other) => other.place.device === place.device)
    const bytes = beside.reduce((sum, other) => sum + other.upload.content.size - other.place.have + spareBytes, 0)
    const files = beside.filter((other) => other.place.have === 0).length
    if (bytes > place.freeBytes)
      return {
        upload,
        error: tooLittle(
          place,
          `${megabytes(place.freeBytes)} free, and ${megabytes(bytes)} are needed for ${names(beside)}`,
        ),
      }
    if (place.freeInodes !== null && files > place.freeInodes)
      return {
        upload,
        error: tooLittle(place, `${place.freeInodes} inodes free, and ${files} are needed for ${names(beside)}`),
      }
  }
  return null
}

const names = (all: readonly { upload: Upload }[]): string => all.map(({ upload }) => upload.path).join(', ')

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const tooLittle = ({ directory }: Place, what: string): DroverError =>
  new DroverError({
    code: 'no-space',
    message: `The file system of ${directory} has ${what}.`,
    remedy: 'Make room there, then run again. Nothing has been sent.',
  })

/** `whose`: its owner and mode, where they are known. */
export const unfitPlace = ({ path }: Upload, directory: string, whose: string): DroverError =>
  new DroverError({
    code: 'precondition-unmet',
    message:
      `Others may write to ${directory}${whose === '' ? '' : ` (owner ${whose})`}, so what is brought there for ` +
      `${path} could be exchanged before it is in its place.`,
    remedy:
      'Let root own that directory and nobody else write to it, or have the file lie elsewhere; then run again. ' +
      'Nothing has been put there.',
  })

const mountedSo = ({ path }: Upload, { directory }: Place, how: 'read-only' | 'noexec'): DroverError =>
  new DroverError({
    code: 'precondition-unmet',
    message: `The file system of ${directory} is mounted ${how}, so ${path} could not be ${how === 'noexec' ? 'run' : 'put'} there.`,
    remedy: 'Have it mounted otherwise, or have the file lie elsewhere; then run again. Nothing has been sent.',
  })
