import { z } from 'zod'
import { isCleanPath } from '../../facts/tree.ts'

// What Linux takes: PATH_MAX with its NUL, NAME_MAX for each component.
const longestPath = 4095
const longestName = 255

const fits = (path: string): boolean =>
  Buffer.byteLength(path) <= longestPath && path.split('/').every((name) => Buffer.byteLength(name) <= longestName)

/** A path on the host. Not `/` itself, which no task has anything to do to. */
export const pathParam = z
  .string()
  .refine((path) => isCleanPath(path) && path !== '/', {
    error:
      'This is no path drover takes.\nWrite an absolute path such as /etc/motd: no ., .. or empty parts, no slash at its end.',
    abort: true,
  })
  .refine(fits, `This path is too long for Linux.\nUse at most ${longestPath} bytes, and ${longestName} in each part.`)
