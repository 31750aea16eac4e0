import { describe, expect, test } from 'vitest'
import { secretReader } from '../../src/inventory/secret-reader.ts'
import { isSecretReference, parseSecretReference, parseSecretTag } from '../../src/inventory/secret-reference.ts'
import { parseStrictYaml } from '../../src/inventory/strict-yaml.ts'
import type { Value } from '../../src/playbook/value.ts'
import { Secret } from '../../src/secret.ts'
import { filesOf } from '../playbook/world.ts'

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
    [{ command: ['pass', 'show', 'a b'] }, { reference: { command: ['pass', 'show', 'a b'] } }],
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
    { command: 'pass show x' },
    { command: [] },
    { command: ['pass', 3] },
  ])('%j is refused without showing it', (secret) => {
    expect(parse(secret)).toHaveProperty('problem')
    expect(JSON.stringify(parse(secret))).not.toContain('hunter2')
  })
})

describe('the tag', () => {
  test.each<[string, object]>([
    ['env:NAME', { env: 'NAME' }],
    ['file:~/a b', { file: '~/a b' }],
    ['command:pass  show fleet/become', { command: ['pass', 'show', 'fleet/become'] }],
  ])('%s is read', (text, reference) => expect(parseSecretTag(text)).toEqual({ reference }))

  test.each(['', 'hunter2', 'env:', 'env:A=B', 'vault:hunter2'])('%j is refused without showing it', (text) => {
    expect(parseSecretTag(text)).toHaveProperty('problem')
    expect(JSON.stringify(parseSecretTag(text))).not.toContain('hunter2')
  })

  test('stands for the long form in any file, and what is wrong with it is told with its place', () => {
    expect(parseStrictYaml('f', 'a: !secret env:NAME\nb: [!secret "file:/x"]\n').value).toEqual({
      a: { secret: { env: 'NAME' } },
      b: [{ secret: { file: '/x' } }],
    })
    const [fault] = parseStrictYaml('f', 'a: 1\nb: !secret hunter2\n').faults
    expect(fault).toMatchObject({ line: 2, message: 'This secret does not say where it comes from.' })
    expect(JSON.stringify(fault)).not.toContain('hunter2')
  })

  test('no other tag is read', () => {
    expect(parseStrictYaml('f', 'a: !vault x\n').faults).toHaveLength(1)
    expect(parseStrictYaml('f', 'a: !secret {env: X}\n').faults).toHaveLength(1)
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
  const runProgram = ([program]: readonly string[]): Uint8Array => {
    if (program === 'echoes') return Buffer.from('hunter2\n')
    if (program === 'silent') return Buffer.from('')
    throw Object.assign(new Error('hunter2 stands in what failed'), { status: 3 })
  }
  const read = secretReader({ env: { SET: 'v\n', EMPTY: '' }, readFile: files, runProgram })
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
    [{ command: ['echoes', 'x'] }, 'hunter2'],
    [{ command: ['silent'] }, 'What the program "silent" says of a secret is empty.'],
    [{ command: ['fails', 'hunter2'] }, 'The program "fails" gives no secret: exit status 3.'],
    [{ file: '/none' }, 'The file "/none" of a secret cannot be read (ENOENT).'],
  ])('%j gives %j', (reference, value) => {
    expect(shownValue(read(reference))).toBe(value)
  })

  test('happens once', () => {
    let count = 0
    const readFile = () => new TextEncoder().encode(`${++count}`)
    const counting = secretReader({ env: {}, readFile, runProgram })
    const first = counting({ file: '/x' })
    expect(counting({ file: '/x' })).toBe(first)
    expect(first).toEqual({ secret: expect.any(Secret) })
    expect(count).toBe(1)
  })
})
