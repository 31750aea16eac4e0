import { describe, expect, test } from 'vitest'
import { isSecretReference, parseSecretReference, secretReader } from '../../src/playbook/secrets.ts'
import type { Value } from '../../src/playbook/value.ts'
import { Secret } from '../../src/secret.ts'
import { filesOf } from './world.ts'

const parse = (secret: Value) => parseSecretReference({ secret })

describe('what is a secret', () => {
  test.each<[Value, boolean]>([
    [{ secret: { env: 'A' } }, true],
    [{ secret: 'text' }, true],
    [{ secret: { env: 'A' }, other: 1 }, false],
    [{ password: 'x' }, false],
    ['secret', false],
    [['secret'], false],
    [null, false],
  ])('%j: %s', (value, is) => {
    expect(isSecretReference(value)).toBe(is)
  })

  test.each<[Value, object]>([
    [{ env: 'A' }, { reference: { env: 'A' } }],
    [{ file: '/a b' }, { reference: { file: '/a b' } }],
  ])('%j is read', (secret, parsed) => expect(parse(secret)).toEqual(parsed))

  test.each<Value>([
    'hunter2',
    null,
    {},
    [],
    { env: '' },
    { env: 3 },
    { env: 'A=B' },
    { file: 'a\0' },
    { env: 'A', file: 'b' },
    { vault: 'x' },
  ])('%j is refused without showing it', (secret) => {
    expect(parse(secret)).toHaveProperty('problem')
    expect(JSON.stringify(parse(secret))).not.toContain('hunter2')
  })
})

describe('reading', () => {
  const files = filesOf({
    '/plain': 'a\n b',
    '/newline': 'hunter2\n',
    '/two': 'hunter2\n\n',
    '/dos': 'hunter2\r\n',
    '/bom': '\ufeffx',
    '/empty': '\n',
    '/binary': new Uint8Array([0x68, 0xff]),
  })
  const read = secretReader({ env: { SET: 'v\n', EMPTY: '' }, readFile: files })
  const shownValue = (result: ReturnType<typeof read>): string =>
    'secret' in result ? result.secret.reveal() : result.problem.message

  test.each([
    [{ env: 'SET' }, 'v\n'],
    [{ env: 'EMPTY' }, 'The environment variable "EMPTY" of a secret is empty.'],
    [{ env: 'toString' }, 'The environment variable "toString" of a secret is not set.'],
    [{ file: '/plain' }, 'a\n b'],
    [{ file: '/newline' }, 'hunter2'],
    [{ file: '/two' }, 'hunter2\n'],
    [{ file: '/dos' }, 'hunter2'],
    [{ file: '/bom' }, '\ufeffx'],
    [{ file: '/empty' }, 'The file "/empty" of a secret is empty.'],
    [{ file: '/binary' }, 'The file "/binary" of a secret is not UTF-8 text.'],
    [{ file: '/none' }, 'The file "/none" of a secret cannot be read (ENOENT).'],
  ])('%j gives %j', (reference, value) => {
    expect(shownValue(read(reference))).toBe(value)
  })

  test('happens once', () => {
    let count = 0
    const counting = secretReader({ env: {}, readFile: () => new TextEncoder().encode(`${++count}`) })
    const first = counting({ file: '/x' })
    expect(counting({ file: '/x' })).toBe(first)
    expect(first).toEqual({ secret: expect.any(Secret) })
    expect(count).toBe(1)
  })
})
