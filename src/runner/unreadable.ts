import type { ErrorDetails } from '../errors.ts'
import type { Unreadable } from '../facts/unknown.ts'

/** What a plan or a table wanted to know and the host would not show. */
export const unreadable = (thrown: Unreadable): ErrorDetails => ({
  code: 'inspect-failed',
  message: thrown.message,
  remedy:
    'Give drover root rights on the host (become: true with a sudo rule, or user: root), or mend what stands in the way.',
})
