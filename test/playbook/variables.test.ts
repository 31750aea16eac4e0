import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Vars, VarValue } from '../../src/inventory/host.ts'
import { secretReader } from '../../src/inventory/secret-reader.ts'
import type { Outcome } from '../../src/playbook/outcome.ts'
import { depthLimit, sizeLimit } from '../../src/playbook/outcome.ts'
import { escapeReferences } from '../../src/playbook/reference.ts'
import type { Layers } from '../../src/playbook/scope.ts'
import { scopeOf } from '../../src/playbook/scope.ts'
import { suggester } from '../../src/playbook/suggest.ts'
import { resolver } from '../../src/playbook/variables.ts'
import { Secret } from '../../src/secret.ts'
import { filesOf, hostOf, noProgram } from './world.ts'

const fillIn = (value: VarValue, layers: Partial<Layers> = {}, env: Record<string, string> = {}): Outcome =>
  resolver({
    scope: scopeOf({ defaults: {}, host: hostOf('web-1', { port: 2222 }), vars: {}, extraVars: {}, ...layers }),
    readSecret: secretReader({ env, readFile: filesOf({}), runProgram: noProgram }),
    suggest: suggester(),
  })(value)

const filledValue = (value: VarValue, vars: Vars = {}, env: Record<string, string> = {}): unknown => {
  const outcome = fillIn(value, { vars }, env)
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  return outcome.value
}

const problemsOf = (value: VarValue, vars: Vars = {}, env: Record<string, string> = {}): string[] => {
  const outcome = fillIn(value, { vars }, env)
  if (!('problems' in outcome)) throw new Error('there is a value')
  return outcome.problems.map(
    ({ code, path, message, inside = '' }) => `${code} ${path.join('/')} ${inside} ${message}`,
  )
}

describe('a reference', () => {
  const vars: Vars = {
    n: 3,
    t: 'x',
    b: true,
    none: null,
    list: ['a', { k: 2 }],
    map: { 'a-b': { c: 1.5 } },
    '1': 'digit',
  }
  test.each<[string, unknown]>([
    ['${n}', 3],
    ['${b}', true],
    ['${none}', null],
    ['${list}', ['a', { k: 2 }]],
    ['${list.1.k}', 2],
    ['${map.a-b.c}', 1.5],
    ['${map}', { 'a-b': { c: 1.5 } }],
    ['<${t}-${n}-${b}>', '<x-3-true>'],
    ['${t}${t}', 'xx'],
    ['', ''],
    ['$', '$'],
    ['$t $(t) {t} $$ }', '$t $(t) {t} $$ }'],
    ['$${t}', '${t}'],
    ['$${', '${'],
    ['$$${t}', '$${t}'],
    ['$${${t}', '${x'],
    ['${t}$${t}${t}', 'x${t}x'],
    ['${host.name} ${host.port}', 'web-1 2222'],
    ['${host.port}', 2222],
    ['${host}', { name: 'web-1', address: '192.0.2.1', port: 2222, user: 'core', variant: 'host' }],
  ])('%s is %j', (text, value) => {
    expect(filledValue(text, vars)).toEqual(value)
  })

  test('is found at any depth, and keys stay as they are', () => {
    expect(filledValue({ '${t}': [{ a: '${n}' }, '${t}!'] }, vars)).toEqual({ '${t}': [{ a: 3 }, 'x!'] })
  })

  test('may lead to further ones', () => {
    expect(filledValue('${a}', { a: 'a${b.c}', b: { c: '${d}', e: '${undefined}' }, d: 1 })).toBe('a1')
    expect(filledValue('${a.x}', { a: '${b}', b: { x: '${c}' }, c: [1] })).toEqual([1])
    expect(filledValue('${a.x}', { a: { x: 1, y: '${a.x}' } })).toBe(1)
  })

  test.each<[string, Vars, string[]]>([
    ['${stabel}', { stable: 1 }, ['variable-undefined   The variable ${stabel} is not defined.']],
    ['${a.b}', { a: 3 }, ['variable-undefined   The variable ${a.b} is not defined: a is a number without "b".']],
    [
      '${a.b.c}',
      { a: { b: [] } },
      ['variable-undefined   The variable ${a.b.c} is not defined: a.b is a list without "c".'],
    ],
    ['${a.01}', { a: [0, 1] }, ['variable-undefined   The variable ${a.01} is not defined: a is a list without "01".']],
    [
      '${a.length}',
      { a: [0, 1] },
      ['variable-undefined   The variable ${a.length} is not defined: a is a list without "length".'],
    ],
    [
      '${a.constructor}',
      { a: {} },
      ['variable-undefined   The variable ${a.constructor} is not defined: a is a mapping without "constructor".'],
    ],
    ['${__proto__}', {}, ['variable-undefined   The variable ${__proto__} is not defined.']],
    ['${toString}', {}, ['variable-undefined   The variable ${toString} is not defined.']],
    [
      '${host.__proto__}',
      {},
      ['variable-undefined   The variable ${host.__proto__} is not defined: host is a mapping without "__proto__".'],
    ],
    ['x${a}', { a: [] }, ['playbook-invalid   ${a} is a list inside a longer text.']],
    ['x${a}', { a: { b: 1 } }, ['playbook-invalid   ${a} is a mapping inside a longer text.']],
    ['x${a}', { a: null }, ['playbook-invalid   ${a} is nothing (null) inside a longer text.']],
    ['${a}', { a: '${a}' }, ['playbook-invalid  a A variable refers to itself: a → a.']],
    ['${a}', { a: '${b}', b: 'x${c}', c: ['${b}'] }, ['playbook-invalid  c A variable refers to itself: b → c → b.']],
    ['${a.x}', { a: '${a.x}' }, ['playbook-invalid  a.x A variable refers to itself: a.x → a.x.']],
    [
      '${a}',
      { a: ['${b}', '${c}'] },
      [
        'variable-undefined  a The variable ${b} is not defined.',
        'variable-undefined  a The variable ${c} is not defined.',
      ],
    ],
    [
      '${a}',
      { a: 'echo ${HOME:-/root}' },
      ['playbook-invalid  a "HOME:-/root" in ${ } is not the name of a variable.'],
    ],
    ['${a}', { a: { secret: 'hunter2' } }, ['playbook-invalid  a This secret does not say where it comes from.']],
    [
      '${a}',
      { a: { secret: { env: 'NO' } } },
      ['variable-undefined  a The environment variable "NO" of a secret is not set.'],
    ],
    [
      '${a.secret}',
      { a: { secret: { env: 'PW' } } },
      ['variable-undefined   The variable ${a.secret} is not defined: a is a secret without "secret".'],
    ],
  ])('%s with %j is a fault', (text, vars, problems) => {
    expect(problemsOf(text, vars, { PW: 'hunter2' })).toEqual(problems)
  })

  test('faults name the place of each value', () => {
    expect(problemsOf({ a: ['${x}', 'ok'], b: { c: '${y}' } })).toEqual([
      'variable-undefined a/0  The variable ${x} is not defined.',
      'variable-undefined b/c  The variable ${y} is not defined.',
    ])
  })

  test('a near name is suggested, of a key among the keys', () => {
    const outcomes = fillIn(['${nmae}', '${host.nmae}'], { vars: { nmaes: 1 } })
    expect(outcomes).toMatchObject({ problems: [{ remedy: 'Did you mean nmaes?' }, { remedy: 'Did you mean name?' }] })
    const outcome = fillIn('${stabel_s}', { defaults: { stable_s: 1 } })
    expect(outcome).toMatchObject({ problems: [{ remedy: 'Did you mean stable_s?' }] })
    expect(fillIn('${host.nmae}')).toMatchObject({ problems: [{ remedy: 'Did you mean name?' }] })
    expect(fillIn('${zzz}')).toMatchObject({
      problems: [{ remedy: 'Define it in the playbook or the inventory, or give -e zzz=VALUE.' }],
    })
  })
})

describe('a secret', () => {
  const vars: Vars = {
    pw: { secret: { env: 'PW' } },
    login: { user: 'u', password: '${pw}' },
    url: 'https://u:${pw}@x',
  }
  const env = { PW: 'hunter2 ${host.name}' }

  test('is a Secret with its bytes unchanged, wherever it stands', () => {
    const direct = filledValue('${pw}', vars, env)
    expect(direct).toBeInstanceOf(Secret)
    expect((direct as Secret).reveal()).toBe('hunter2 ${host.name}')
    expect(filledValue(['${login.password}', '${pw}'], vars, env)).toEqual([expect.any(Secret), expect.any(Secret)])
    expect(filledValue('${login}', vars, env)).toEqual({ user: 'u', password: expect.any(Secret) })
  })

  test.each(['x${pw}', '${pw}${pw}', '${url}', 'a ${url}', 'x${login.password}'])(
    '%s is refused without showing it',
    (text) => {
      const outcome = fillIn(text, { vars }, env)
      expect(outcome).toMatchObject({ problems: [{ code: 'secret-in-text' }] })
      expect(JSON.stringify(outcome)).not.toContain('hunter2')
    },
  )

  test('is not read while nothing uses it', () => {
    expect(filledValue('${login.user}', vars)).toBe('u')
  })

  test('may come from any layer, and a plain value of a stronger one replaces it', () => {
    const secret = { secret: { env: 'PW' } }
    const read = (layers: Partial<Layers>): unknown => (fillIn('${v}', layers, { PW: 's' }) as { value: unknown }).value
    const layers = [
      { defaults: { v: secret } },
      { host: hostOf('a', { vars: { v: secret } }) },
      { vars: { v: secret } },
      { extraVars: { v: secret } },
    ]
    for (const layer of layers) expect(read(layer)).toBeInstanceOf(Secret)
    expect(read({ defaults: { v: secret }, extraVars: { v: 'plain' } })).toBe('plain')
  })
})

describe('limits', () => {
  const doubling = (make: (next: string) => VarValue): Vars =>
    Object.fromEntries([
      ...Array.from({ length: 30 }, (_, index) => [`v${index}`, make(`\${v${index + 1}}`)]),
      ['v30', 'x'],
    ])

  test.each<[string, (next: string) => VarValue]>([
    ['texts', (next) => next + next],
    ['lists', (next) => [next, next]],
    ['mappings', (next) => ({ a: next, b: next })],
  ])('%s that double each other end in a fault, at once', (_, make) => {
    expect(problemsOf('${v0}', doubling(make))).toEqual([expect.stringContaining(`more than ${sizeLimit} characters`)])
  })

  test('faults do not double either', () => {
    const vars = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) =>
        ['a', 'b'].map((letter) => [`${letter}${index}`, [`\${a${index + 1}}`, `\${b${index + 1}}`]]),
      ).flat(),
    )
    expect(problemsOf('${a0}', vars)).toHaveLength(2)
  })

  test('a chain or a nest without end is a fault, not a broken stack', () => {
    const chain = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`v${index}`, `\${v${index + 1}}`]))
    expect(problemsOf('${v0}', chain)).toEqual([expect.stringContaining(`more than ${depthLimit} levels`)])
    let nest: VarValue = 'x'
    for (let depth = 0; depth < 5000; depth++) nest = [nest]
    expect(problemsOf('${v}', { v: nest })).toEqual([expect.stringContaining(`more than ${depthLimit} levels`)])
  })

  test('what is worked out before does not hide the height', () => {
    let nest: VarValue = '${b}'
    for (let depth = 0; depth < 60; depth++) nest = [nest]
    expect(
      problemsOf(['${b}', '${a}'], { a: nest, b: JSON.parse(JSON.stringify(nest).replace('${b}', 'x')) }),
    ).toHaveLength(1)
  })
})

describe('properties', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('$', '{', '}', 'a', '.', ' ') }),
  )
  const plain = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('${')) as fc.Arbitrary<VarValue>
  const hostile = fc.letrec<{ value: VarValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<VarValue>(
        '${a}',
        '${b}',
        '${c.0}',
        '${c.x}',
        '${host.name}',
        'x${a}',
        '$${a}',
        '${',
        3,
        null,
        true,
      ),
      text,
      fc.constantFrom<VarValue>(
        { secret: { env: 'PW' } },
        { secret: { env: 'NO' } },
        { secret: {} },
        { secret: { file: '/x' } },
      ),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('x', '0', '__proto__', 'constructor', 'secret'), tie('value'), { maxKeys: 3 }),
    ),
  })).value

  test('any text arrives unchanged through a variable, once its dollars are escaped', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(filledValue('${v}', { v: escapeReferences(value) })).toBe(value)
        expect(filledValue('<${v}>', { v: escapeReferences(value) })).toBe(`<${value}>`)
      }),
    )
  })

  test('any text without ${ is unchanged, and so is any value of such texts', () => {
    fc.assert(
      fc.property(text, plain, (value, data) => {
        fc.pre(!value.includes('${'))
        expect(filledValue(value)).toBe(value)
        expect(JSON.stringify(filledValue(data))).toBe(JSON.stringify(data))
        fc.pre(!JSON.stringify(data).includes('secret'))
        expect(JSON.stringify(filledValue('${v}', { v: data }))).toBe(JSON.stringify(data))
      }),
    )
  })

  test('whatever the variables are, filling in ends in a value or in problems, shows no secret and pollutes nothing', () => {
    const before = Object.getOwnPropertyNames(Object.prototype).length
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (value, a, b, c) => {
        const outcome = fillIn(value, { vars: { a, b, c } }, { PW: 'hunter2' })
        if ('problems' in outcome) expect(outcome.problems.length).toBeGreaterThan(0)
        expect(JSON.stringify(outcome)).not.toContain('hunter2')
        expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before)
        expect('x' in {}).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })

  test('the strongest layer that has a variable gives it', () => {
    const layer = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer())
    fc.assert(
      fc.property(layer, layer, layer, layer, (defaults, inventory, vars, extraVars) => {
        const model: Vars = { ...defaults, ...inventory, ...vars, ...extraVars }
        const layers = { defaults, host: hostOf('x', { vars: inventory }), vars, extraVars }
        for (const name of ['a', 'b', 'c']) {
          const outcome = fillIn(`\${${name}}`, layers)
          expect('problems' in outcome ? undefined : outcome.value).toEqual(model[name])
        }
      }),
    )
  })

  test("host is drover's own whatever the inventory says", () => {
    expect(fillIn('${host.name}', { host: hostOf('x', { vars: { host: { name: 'other' } } }) })).toMatchObject({
      value: 'x',
    })
  })
})
