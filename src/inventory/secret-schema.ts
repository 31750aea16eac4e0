import { z } from 'zod'
import type { SecretReference } from '../secret.ts'

/** A setting that is secret says where it comes from; it never stands in the file itself. */
export const secretSchema = (resolvePath: (text: string) => string): z.ZodType<SecretReference> =>
  z
    .strictObject(
      {
        secret: z.union([
          z.strictObject({ env: z.string().min(1) }),
          z.strictObject({ file: z.string().min(1).transform(resolvePath) }),
        ]),
      },
      'A password does not stand here.\nSay where it comes from: { secret: { env: NAME } } or { secret: { file: PATH } }.',
    )
    .transform(({ secret }) => secret)
