import { z } from 'zod'

const words = (fault: string): string => `${fault}\nWrite it as in chmod, in quotes: "0644".`

// YAML 1.2 reads 0644 as the number 644, which is another mode; so no number is taken at all.
const unquoted = (issue: { readonly input?: unknown }): string | undefined =>
  typeof issue.input === 'number'
    ? words('A mode without quotes is a number, and not the one that is meant.')
    : undefined

export const modeParam = z
  .string({ error: unquoted })
  .regex(/^[0-7]{3,4}$/, words('A mode is three or four octal digits.'))

export const modeBits = (mode: string): number => Number.parseInt(mode, 8)
