import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/secret.ts'
import type { World } from './world.ts'
import { asked, hostOf, inputError, load, places, playsOf } from './world.ts'

const hosts = [
  hostOf('web-1', { groups: ['all', 'web'], vars: { stable_s: 10 } }),
  hostOf('web-2', { groups: ['all', 'web'] }),
  hostOf('db-1', { groups: ['all', 'db'], variant: 'container', vars: { names: ['x'] } }),
]

const playbook = load(`name: p
defaults: { stable_s: 45, names: [] }
steps:
  - task: worker-running
    with: { stable_s: '\${stable_s}', names: '\${names}' }
  - task: worker-running
    hosts: web:!web-2
    when: { group: db }
`)

test('each host gets its steps, with its variables and the defaults of the task', () => {
  expect(playsOf(playbook, { hosts })).toEqual([
    {
      host: hosts[0],
      steps: [
        { name: 'worker-running', task: 'worker-running', params: { stable_s: 10, names: [] }, when: null },
        {
          name: 'worker-running (2)',
          task: 'worker-running',
          params: { stable_s: 45, names: [] },
          when: { group: ['db'] },
        },
      ],
    },
    {
      host: hosts[1],
      steps: [{ name: 'worker-running', task: 'worker-running', params: { stable_s: 45, names: [] }, when: null }],
    },
    {
      host: hosts[2],
      steps: [{ name: 'worker-running', task: 'worker-running', params: { stable_s: 45, names: ['x'] }, when: null }],
    },
  ])
})

test('a step keeps its limit in time', () => {
  const limited = load('name: p\nsteps: [{ task: anything, timeout: 2m }, { task: anything }]')
  expect(playsOf(limited, { hosts, limit: ['db-1'] })[0]?.steps).toMatchObject([
    { name: 'anything', timeoutS: 120 },
    { name: 'anything (2)' },
  ])
})

test('-e is above all', () => {
  const params = playsOf(playbook, { hosts, extraVars: { stable_s: 5 } }).map(({ steps }) => steps[0]?.params)
  expect(params).toMatchObject([{ stable_s: 5 }, { stable_s: 5 }, { stable_s: 5 }])
})

test('a limit may leave nothing of a pattern, and hosts the playbook is not for are left out', () => {
  expect(playsOf(playbook, { hosts, limit: ['db-1'] })).toHaveLength(1)
  const web = load('name: p\nhosts: web\nsteps: [{ task: anything }]')
  expect(playsOf(web, { hosts, limit: ['web-2', 'db-1'] }).map(({ host }) => host.name)).toEqual(['web-2'])
})

test('a host for which there is no step has a play without steps', () => {
  expect(playsOf(load('name: p\nsteps: [{ task: anything, hosts: web }]'), { hosts, limit: ['db-1'] })).toEqual([
    { host: hosts[2], steps: [] },
  ])
})

describe('faults', () => {
  const faultsOf = (text: string, world: World = { hosts }): string[] => {
    const error = inputError(() => playsOf(load(text), world))
    return [error.code, ...places(error.faults)]
  }

  test.each([
    [
      'a pattern of the playbook without a match',
      'name: p\nhosts: wbe\nsteps: [{ task: anything }]',
      ['pattern-no-match', 'p.yaml:2:8 No host and no group matches "wbe". | Did you mean web?'],
    ],
    [
      'a pattern of a step without a match',
      'name: p\nsteps:\n  - task: anything\n    hosts: web:&db',
      [
        'pattern-no-match',
        'p.yaml:4:12 The pattern "web:&db" leaves no host. | Choose a group that has hosts, or loosen the intersections (&) and exclusions (!).',
      ],
    ],
    [
      'a group in a condition that nobody defines',
      'name: p\nsteps:\n  - task: anything\n    when: { group: [web, dbb] }',
      ['pattern-no-match', 'p.yaml:4:26 No group is called "dbb". | Did you mean db?'],
    ],
    [
      'an undefined variable, once for all hosts',
      'name: p\nsteps:\n  - task: anything\n    with:\n      a: [x, "${chanel}"]',
      [
        'variable-undefined',
        'p.yaml:5:14 The variable ${chanel} is not defined. (web-1, web-2, db-1) | Define it in the playbook or the inventory, or give -e chanel=VALUE.',
      ],
    ],
    [
      'an undefined variable on some hosts only',
      'name: p\nsteps:\n  - task: anything\n    with: { a: "${names}", b: "${stable_s}" }',
      [
        'variable-undefined',
        'p.yaml:4:16 The variable ${names} is not defined. (web-1, web-2) | Define it in the playbook or the inventory, or give -e names=VALUE.',
        'p.yaml:4:31 The variable ${stable_s} is not defined. (web-2, db-1) | Define it in the playbook or the inventory, or give -e stable_s=VALUE.',
      ],
    ],
    [
      'an undefined variable in a variable',
      'name: p\nvars: { a: "${b}" }\nsteps:\n  - task: anything\n    with: { a: "${a}" }',
      [
        'variable-undefined',
        'p.yaml:5:16 In the value of ${a}: The variable ${b} is not defined. (web-1, web-2, db-1) | Define it in the playbook or the inventory, or give -e b=VALUE.',
      ],
    ],
    [
      'a wrong type through a variable',
      'name: p\nvars: { s: soon }\nsteps:\n  - task: worker-running\n    with: { stable_s: "${s}" }',
      [
        'playbook-invalid',
        'p.yaml:5:23 stable_s: The text "soon" stands where a number belongs. (web-1, web-2, db-1) | Write a number.',
      ],
    ],
    [
      'a secret inside a text',
      'name: p\nvars: { pw: { secret: { env: PW } } }\nsteps:\n  - task: anything\n    with: { a: "x${pw}" }',
      [
        'secret-in-text',
        'p.yaml:5:16 ${pw} is a secret inside a longer text. (web-1, web-2, db-1) | Let a secret be the whole value.',
      ],
    ],
    [
      'a secret where none can be',
      'name: p\nvars: { pw: { secret: { env: PW } } }\nsteps:\n  - task: worker-running\n    with: { names: ["${pw}"] }',
      [
        'playbook-invalid',
        'p.yaml:5:21 names.0: This secret does not fit here. (web-1, web-2, db-1) | See drover tasks for what the parameter takes.',
      ],
    ],
    [
      'a secret that is not there',
      'name: p\nvars: { pw: { secret: { env: NO } } }\nsteps:\n  - task: anything\n    with: { a: "${pw}" }',
      [
        'variable-undefined',
        'p.yaml:5:16 In the value of ${pw}: The environment variable "NO" of a secret is not set. (web-1, web-2, db-1) | Set "NO".',
      ],
    ],
    [
      'all of them at once, as an invalid playbook',
      'name: p\nsteps:\n  - task: anything\n    hosts: nobody\n  - task: anything\n    with: { a: "${b}" }',
      [
        'playbook-invalid',
        'p.yaml:4:12 No host and no group matches "nobody". | See drover inventory graph for the names there are.',
        'p.yaml:6:16 The variable ${b} is not defined. (web-1, web-2, db-1) | Define it in the playbook or the inventory, or give -e b=VALUE.',
      ],
    ],
  ])('%s', (_, text, faults) => {
    expect(faultsOf(text, { hosts, env: { PW: 'hunter2' } })).toEqual(faults)
  })

  test('names of many hosts are counted', () => {
    const many = Array.from({ length: 1000 }, (_, index) => hostOf(`h${index}`))
    const text = 'name: p\nsteps: [{ task: anything, with: { a: "${b}" } }]'
    expect(faultsOf(text, { hosts: many })[1]).toContain('(h0, h1, h2 and 997 more)')
  })

  test('a playbook without positions names its steps', () => {
    const { positions: _, ...bare } = load('name: p\nsteps:\n  - task: anything\n    with: { a: "${b}" }')
    expect(inputError(() => playsOf(bare)).faults).toMatchObject([{ file: 'p.yaml', line: 3, column: 5 }])
  })
})

test('a secret reaches the parameters as a secret', () => {
  const text =
    'name: p\nvars: { pw: { secret: { file: pw } } }\nsteps: [{ task: file-present, with: { path: /x, content: "${pw}" } }]'
  const [play] = playsOf(load(text), { files: { '/here/pw': 'hunter2\n' } })
  const content = (play?.steps[0]?.params as { content: Secret } | undefined)?.content
  expect(content).toBeInstanceOf(Secret)
  expect(content?.reveal()).toBe('hunter2')
  expect(JSON.stringify(play)).not.toContain('hunter2')
})

describe('a thousand hosts', () => {
  const many = Array.from({ length: 1000 }, (_, index) =>
    hostOf(`h${index}`, { vars: { stable_s: (index % 2) + 1, own: `${index}` } }),
  )

  test('are parsed once for each set of parameters', () => {
    const before = asked.worker
    const plays = playsOf(
      load('name: p\nsteps: [{ task: worker-running, with: { stable_s: "${stable_s}", names: [a] } }]'),
      { hosts: many },
    )
    expect(asked.worker - before).toBe(2)
    expect(plays[0]?.steps[0]?.params).toBe(plays[2]?.steps[0]?.params)
  })

  test('share a megabyte without copying it for each', () => {
    const big = load('name: p\nsteps: [{ task: anything, with: { a: "${big}", b: "${own}" } }]')
    expect(playsOf(big, { hosts: many, extraVars: { big: 'x'.repeat(1_000_000) } })).toHaveLength(1000)
  })
})
