import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Value } from '../../src/playbook/value.ts'
import { valueKeys } from '../../src/playbook/value.ts'
import { Secret } from '../../src/secret.ts'

const one = new Secret('x')
const values = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Value>(
      null,
      true,
      'true',
      'null',
      1,
      '1',
      Number.NaN,
      'NaN',
      '#0',
      '',
      '[]',
      '{}',
      one,
      new Secret('x'),
    ),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', '1'), tie('value'), { maxKeys: 2 }),
  ),
})).value

/** JSON with everything told apart that JSON does not. */
const written = (value: Value): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key, inner: unknown) {
    const raw = this[key]
    if (raw instanceof Secret) return { secret: raw === one ? 1 : 2 }
    return Number.isNaN(inner) ? { nan: true } : inner
  })

test('two values have one key exactly if they are the same', () => {
  fc.assert(
    fc.property(values, values, (a, b) => {
      const keyOf = valueKeys()
      expect(keyOf(a) === keyOf(b)).toBe(written(a) === written(b))
    }),
    { numRuns: 2000 },
  )
})
