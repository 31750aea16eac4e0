import { z } from 'zod'
import type { SecretReference } from '../secret.ts'
import { isSecretReference, parseSecretReference } from './secret-reference.ts'

/** A setting that is secret says where it comes from; it never stands in the file itself, and is never shown. */
export const secretSchema = (resolvePath: (text: string) => string): z.ZodType<SecretReference> =>
  z.unknown().transform((value, context) => {
    const parsed = parseSecretReference(isSecretReference(value) ? value : { secret: null })
    if ('problem' in parsed) {
      context.addIssue(`${parsed.problem.message}\n${parsed.problem.remedy}`)
      return z.NEVER
    }
    const { reference } = parsed
    return 'file' in reference ? { file: resolvePath(reference.file) } : reference
  })
