import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/errors.ts'
import { loadPlaybook } from '../../src/playbook/load.ts'
import { filesOf, inputError, load, places, shippedDir, tasks } from './world.ts'

const faultsOf = (text: string): string[] => {
  const error = inputError(() => load(text))
  expect(error.code).toBe('playbook-invalid')
  return places(error.faults)
}

const step = (lines: string): string => `name: p\nsteps:\n  - task: worker-running\n${lines}`

test('a playbook comes out as written, with names and defaults filled in', () => {
  const playbook = load(`name: remediate
description: Bring stopped workers back
hosts: all
defaults: { stable_s: 45 }
vars: { channel: stable }
steps:
  - task: worker-running
    name: bring the worker back
    with: { stable_s: '\${stable_s}' }
    hosts: rhel
    when: { os: [rhel], variant: host, group: canary, facts: [{ unit: a.service, property: ActiveState, is: active }, { path: /x, is: file }] }
  - task: worker-running
  - task: worker-running
`)
  expect(playbook).toMatchObject({
    name: 'remediate',
    description: 'Bring stopped workers back',
    file: 'p.yaml',
    hosts: 'all',
    defaults: { stable_s: 45 },
    vars: { channel: 'stable' },
  })
  expect(playbook.sha256).toMatch(/^[0-9a-f]{64}$/)
  expect(playbook.steps).toEqual([
    {
      name: 'bring the worker back',
      task: 'worker-running',
      with: { stable_s: '${stable_s}' },
      hosts: 'rhel',
      when: {
        os: ['rhel'],
        variant: 'host',
        group: ['canary'],
        facts: [
          { unit: 'a.service', property: 'ActiveState', is: 'active' },
          { path: '/x', is: 'file' },
        ],
      },
      position: { line: 7, column: 5 },
    },
    {
      name: 'worker-running',
      task: 'worker-running',
      with: {},
      hosts: null,
      when: null,
      position: { line: 12, column: 5 },
    },
    {
      name: 'worker-running (2)',
      task: 'worker-running',
      with: {},
      hosts: null,
      when: null,
      position: { line: 13, column: 5 },
    },
  ])
})

test.each([
  ['90', 90],
  ['90s', 90],
  ['1h30m', 5400],
])('timeout: %s is %d seconds', (text, seconds) => {
  expect(load(`name: p\nsteps: [{ task: anything, timeout: ${text} }]`).steps[0]?.timeout).toBe(seconds)
})

test.each([
  ['says alone', 'confirm: { says: It is gone. }', { says: 'It is gone.' }],
  [
    'with another flag',
    'confirm:\n  says: It is gone.\n  also: yes-remove-everything',
    { says: 'It is gone.', also: 'yes-remove-everything' },
  ],
  ['none', 'hosts: all', null],
])('confirm: %s', (_, line, confirm) => {
  expect(load(`name: p\n${line}\nsteps: [{ task: anything }]`).confirm).toEqual(confirm)
})

test('hosts are all and the rest is empty where nothing is said', () => {
  expect(load('name: p\nsteps: [{ task: anything }]')).toMatchObject({
    description: '',
    hosts: 'all',
    defaults: {},
    vars: {},
  })
})

describe('bad input', () => {
  test.each([
    [
      'an empty file',
      '',
      ['p.yaml:1:1 The file holds nothing. | Write name: and steps: into it; docs/playbooks.md has an example.'],
    ],
    [
      'only a comment',
      '# nothing\n',
      ['p.yaml:1:1 The file holds nothing. | Write name: and steps: into it; docs/playbooks.md has an example.'],
    ],
    ['a list', '- task: anything', ['p.yaml:1:1 A list stands where a mapping belongs. | Write a mapping.']],
    ['no steps', 'name: p', ['p.yaml:1:1 The playbook has no steps. | Add at least one under steps:.']],
    [
      'an empty list of steps',
      'name: p\nsteps: []',
      ['p.yaml:2:8 The playbook has no steps. | Add at least one under steps:.'],
    ],
    [
      'a step without a task',
      'name: p\nsteps:\n  - name: x',
      ['p.yaml:3:5 The step has no task. | Add a line such as task: worker-running.'],
    ],
    [
      'no name',
      'steps: [{ task: anything }]',
      ['p.yaml:1:1 The playbook has no name. | Add a line such as name: remediate.'],
    ],
    [
      'a name that cannot name a directory',
      'name: ../x\nsteps: [{ task: anything }]',
      [
        'p.yaml:1:7 This cannot be the name of a playbook. | Use up to 64 letters, digits and . _ -, beginning with a letter or a digit.',
      ],
    ],
    [
      'an unknown key',
      'name: p\nstesp: 1\nsteps: [{ task: anything }]',
      ['p.yaml:2:1 "stesp" is not a key that is known here. | Did you mean steps?'],
    ],
    ...(
      [
        [
          'without a sentence',
          '{}',
          '2:10',
          'Nothing says what cannot be undone. | Add a line such as says: Everything under /srv/data is removed.',
        ],
        [
          'of two lines',
          '{ says: "a\\nb" }',
          '2:18',
          'This cannot be shown as a question. | Write one sentence of up to 300 printable characters on one line.',
        ],
        [
          'with another flag than there is',
          '{ says: x, also: yes }',
          '2:27',
          'There is no such flag. | Write yes-remove-everything, or leave the line out.',
        ],
        [
          'with an unknown key',
          '{ says: x, alos: y }',
          '2:21',
          '"alos" is not a key that is known here. | Did you mean also?',
        ],
        [
          'with a variable',
          "{ says: 'x ${y}' }",
          '2:18',
          'A variable cannot stand here. | Variables are for with: alone.',
        ],
      ] as const
    ).map(([what, confirm, place, fault]): [string, string, string[]] => [
      `a confirmation ${what}`,
      `name: p\nconfirm: ${confirm}\nsteps: [{ task: anything }]`,
      [`p.yaml:${place} ${fault}`],
    ]),
    [
      'an unknown key of a step',
      step('    whit: {}'),
      ['p.yaml:4:5 "whit" is not a key that is known here. | Did you mean with?'],
    ],
    ...['10 minutes', '-5', '0', '25h'].map((timeout): [string, string, string[]] => [
      `a step's time of ${timeout}`,
      step(`    timeout: ${timeout}`),
      ['p.yaml:4:14 This is no length of time. | Write 90s, 10m or 1h30m, up to a day; a plain number is in seconds.'],
    ]),
    [
      'an unknown task',
      'name: p\nsteps:\n  - task: worker-runing',
      ['p.yaml:3:11 No task is called "worker-runing". | Did you mean worker-running?'],
    ],
    [
      'a task far from all',
      'name: p\nsteps:\n  - task: x',
      ['p.yaml:3:11 No task is called "x". | The tasks are: worker-running, file-present, anything.'],
    ],
    [
      'an unknown parameter',
      step('    with: { stabel_s: 3 }'),
      ['p.yaml:4:13 "stabel_s" is not a key that is known here. | Did you mean stable_s?'],
    ],
    [
      'an unknown parameter with a variable in it',
      step('    with: { stabel_s: "${x}" }'),
      ['p.yaml:4:13 "stabel_s" is not a key that is known here. | Did you mean stable_s?'],
    ],
    [
      'an unknown parameter of a task that would not mind',
      'name: p\nsteps:\n  - task: file-present\n    with: { path: /x, content: y, moed: z }',
      ['p.yaml:4:35 "moed" is not a key that is known here. | Did you mean mode?'],
    ],
    [
      'a wrong type',
      step('    with:\n      stable_s: many'),
      ['p.yaml:5:17 stable_s: The text "many" stands where a number belongs. | Write a number.'],
    ],
    [
      'a wrong type in a list',
      step('    with: { names: [a, 3] }'),
      ['p.yaml:4:24 names.1: 3 stands where a text belongs. | Write a text.'],
    ],
    [
      'missing parameters',
      'name: p\nsteps:\n  - task: file-present\n    with: { mode: "${m}" }',
      [
        'p.yaml:4:11 path: A value is missing: a text. | Write a text.',
        'p.yaml:4:11 content: A value is missing: a text or Secret. | Write a text or Secret.',
      ],
    ],
    [
      'parameters that are a list',
      step('    with: [a]'),
      ['p.yaml:4:11 A list stands where a mapping belongs. | Write a mapping.'],
    ],
    [
      'a merge key',
      'name: p\nvars: &v { a: 1 }\nsteps:\n  - task: anything\n    with:\n      <<: *v',
      ['p.yaml:6:7 Merge keys (<<) are not supported. | Use the settings of a group.'],
    ],
    [
      'a key given twice',
      'name: p\nname: q\nsteps: [{ task: anything }]',
      ['p.yaml:2:1 The key "name" is given twice. | Keep one of the two.'],
    ],
    [
      'a number that would change',
      'name: p\nsteps:\n  - task: file-present\n    with: { path: /x, content: y, mode: 0644 }',
      [
        'p.yaml:4:41 0644 would be read as the number 644. | Write "0644" if it is a text, or the number in its plain form.',
      ],
    ],
    [
      'two steps of one name',
      step('    name: x\n  - task: anything\n    name: x'),
      ['p.yaml:6:11 Two steps are called "x". | Give each step a name of its own.'],
    ],
    [
      'a bad pattern',
      step('    hosts: web[3:1]'),
      [
        'p.yaml:4:12 "web[3:1]" holds a bad range. A range runs upwards. | Write ranges as [1:9], [001:100], [a:f] or with a step as [0:10:2].',
      ],
    ],
    [
      'a bad pattern behind a good one',
      'name: p\nhosts: "a,~("\nsteps: [{ task: anything }]',
      ['p.yaml:2:8 ~"(" is no regular expression. | Correct it; the syntax is that of JavaScript.'],
    ],
    [
      'an empty pattern',
      'name: p\nhosts: "&"\nsteps: [{ task: anything }]',
      ['p.yaml:2:8 The pattern "&" is empty. | Write all for every host.'],
    ],
    [
      'a variable in a pattern',
      step('    hosts: "${x}"'),
      ['p.yaml:4:12 A variable cannot stand here. | Variables are for with: alone.'],
    ],
    [
      'a variable in a name',
      step('    name: "on ${host.name}"'),
      ['p.yaml:4:11 A variable cannot stand here. | Variables are for with: alone.'],
    ],
    [
      'a variable in a condition',
      step('    when: { facts: [{ unit: a.service, property: Id, is: "${x}" }] }'),
      ['p.yaml:4:58 A variable cannot stand here. | Variables are for with: alone.'],
    ],
    [
      'a reference without an end',
      step('    with: { names: ["${x"] }'),
      ['p.yaml:4:21 ${ is not closed: "x". | Write ${name} or ${name.key} without blanks, or $${ for a literal ${.'],
    ],
    [
      'a reference that is an expression',
      'name: p\nvars:\n  a: x${1 + 1}\nsteps: [{ task: anything }]',
      [
        'p.yaml:3:6 "1 + 1" in ${ } is not the name of a variable. | Write ${name} or ${name.key} without blanks, or $${ for a literal ${.',
      ],
    ],
    [
      'a variable of the name host',
      'name: p\nvars:\n  host: 1\nsteps: [{ task: anything }]',
      ["p.yaml:3:3 host is a variable of drover's own. | Choose another name."],
    ],
    [
      'a variable nobody could refer to',
      'name: p\ndefaults:\n  a b: 1\nsteps: [{ task: anything }]',
      [
        'p.yaml:3:3 "a b" cannot be the name of a variable. | Use letters, digits, _ and -, beginning with a letter or _.',
      ],
    ],
    [
      'a secret from nowhere',
      'name: p\nvars:\n  a: { secret: { evn: X } }\nsteps: [{ task: anything }]',
      [
        'p.yaml:3:6 This secret does not say where it comes from. | Write !secret env:NAME, !secret file:PATH or !secret command:PROGRAM ARGUMENT, or in long form { secret: { env: NAME } }.',
      ],
    ],
    ['an unknown os', step('    when: { os: rhell }'), ['p.yaml:4:17 "rhell" is no os family. | Did you mean rhel?']],
    [
      'an unknown unit property',
      step('    when: { facts: [{ unit: a.service, property: ActiveStat, is: active }] }'),
      ['p.yaml:4:50 "ActiveStat" is no unit property that drover reads. | Did you mean ActiveState?'],
    ],
  ])('%s', (_, text, faults) => {
    expect(faultsOf(text)).toEqual(faults)
  })

  test('all faults of a file come at once, in its order', () => {
    const text = `name: p
nmae: q
steps:
  - task: worker-runing
  - task: worker-running
    with: { stable_s: x, nam: [] }
    when: { os: x }
  - task: anything
    hosts: '~('
    with: { a: '\${' }
`
    expect(inputError(() => load(text)).faults.map(({ line, column }) => [line, column])).toEqual([
      [2, 1],
      [4, 11],
      [6, 23],
      [6, 26],
      [7, 17],
      [9, 12],
      [10, 16],
    ])
  })

  test('a file that is no UTF-8', () => {
    const readFile = filesOf({ '/p.yaml': new Uint8Array([0x61, 0xff]) })
    const error = inputError(() => loadPlaybook('/p.yaml', { shippedDir, cwd: '/', tasks, readFile }))
    expect([error.code, ...places(error.faults)]).toEqual([
      'playbook-invalid',
      '/p.yaml:1:2 The file is not UTF-8 text. | Save it as UTF-8.',
    ])
  })
})

test('what a value must be is not judged while a variable stands in it', () => {
  expect(() => load(step('    with: { stable_s: "${s}", names: [3, "${n}"] }'))).not.toThrow()
})

test('an escaped dollar is no variable and is judged as it will arrive', () => {
  expect(() => load('name: p\nsteps: [{ task: file-present, with: { path: "$${x}", content: y } }]')).toThrow(/path: /)
  expect(() => load('name: p\nsteps: [{ task: file-present, with: { path: "/$${x}", content: y } }]')).not.toThrow()
})

test('whatever is done to a file, it loads or has faults with places', () => {
  const text =
    readFileSync(new URL('../../docs/playbooks.md', import.meta.url), 'utf8')
      .split('```')[1]
      ?.replace('yaml\n', '') ?? ''
  const edit = fc.record({
    at: fc.nat(text.length),
    drop: fc.nat(12),
    put: fc.oneof(
      fc.constant(''),
      fc.constantFrom('${', '- ', ': ', '&a ', '*a', '{', '[', '\n', '"', '!!x ', '<<: '),
      fc.string(),
    ),
  })
  const allowed = ['playbook-invalid']
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      const edited = edits.reduce((whole, { at, drop, put }) => whole.slice(0, at) + put + whole.slice(at + drop), text)
      try {
        load(edited)
      } catch (thrown) {
        if (!(thrown instanceof InputError)) throw thrown
        expect(allowed).toContain(thrown.code)
        for (const { line, column, remedy } of thrown.faults) {
          expect(line).toBeGreaterThan(0)
          expect(column).toBeGreaterThan(0)
          expect(remedy).not.toBe('')
        }
      }
    }),
    { numRuns: 300 },
  )
})
