import { z } from 'zod'
import { isUnitName } from '../../facts/unit.ts'

/** A unit by its full name; a template only with its instance. */
export const unitParam = z
  .string()
  .refine(
    isUnitName,
    'This is no name of a unit.\nWrite it in full, such as chronyd.service; a template needs its instance, as in serial-getty@ttyS0.service.',
  )
