import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The rules of design.md section 3, kept by a scanner of import statements: no tool, no exceptions but those below. */

const root = new URL('../src/', import.meta.url).pathname
const files = globSync('**/*.ts', { cwd: root }).sort()

interface Import {
  readonly from: string
  readonly to: string
  readonly isType: boolean
}

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Without comments, so that what is only spoken of does not count. */
const codeOf = (file: string): string =>
  textOf(file)
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')

const statement = /^(?:import|export)\s+(type\s+)?([^'"=;]*?)\s*\bfrom\s*['"](\.[^'"]+)['"]/gm
const bare = /^import\s*['"](\.[^'"]+)['"]/gm
const dynamic = /\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/g

const importsOf = (file: string): Import[] => {
  const code = codeOf(file)
  const at = (target: string): string => normalize(join(dirname(file), target))
  const isTypeOnly = (names: string): boolean => {
    const inner = /^\{([^}]*)\}$/.exec(names.trim())?.[1]
    return inner?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type ')) ?? false
  }
  return [
    ...[...code.matchAll(statement)].map(([, type, names = '', target = '']) => ({
      from: file,
      to: at(target),
      isType: type !== undefined || isTypeOnly(names),
    })),
    ...[...code.matchAll(dynamic), ...code.matchAll(bare)].map(([, target = '']) => ({
      from: file,
      to: at(target),
      isType: false,
    })),
  ]
}

const imports = files.flatMap(importsOf)
const layerOf = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') ?? ''

/** What each part may import, besides itself. */
const below: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  printable: [],
  secret: [],
  quote: ['errors'],
  release: ['errors', 'secret', 'printable'],
  inventory: ['errors', 'secret'],
  transport: ['errors', 'secret', 'printable', 'quote', 'inventory'],
  facts: ['errors'],
  changes: ['errors', 'secret', 'quote', 'facts'],
  tasks: ['errors', 'secret', 'release', 'inventory', 'facts', 'changes'],
  playbook: ['errors', 'secret', 'inventory', 'facts', 'changes', 'tasks'],
  runner: ['errors', 'secret', 'printable', 'quote', 'inventory', 'transport', 'facts', 'changes', 'tasks', 'playbook'],
  report: ['errors', 'printable', 'quote', 'runner', 'tasks'],
  collect: ['printable', 'facts', 'tasks'],
  provision: ['errors', 'secret', 'release', 'tasks'],
  cli: [
    'errors',
    'secret',
    'printable',
    'quote',
    'release',
    'inventory',
    'transport',
    'facts',
    'changes',
    'tasks',
    'playbook',
    'runner',
    'report',
    'collect',
    'provision',
  ],
  // Where everything is put together.
  main: ['errors', 'transport', 'tasks', 'cli'],
}

/** Of runner and tasks, report may know only what events are made of. */
const reportMaySee = ['runner/events.ts', 'tasks/task.ts']

describe('imports', () => {
  test('every file has a place among the layers', () => {
    expect([...new Set(files.map(layerOf))].filter((layer) => below[layer] === undefined)).toEqual([])
  })
  test('are seen by the scanner', () => {
    expect(imports.length).toBeGreaterThan(files.length)
    expect(imports).toContainEqual({ from: 'runner/lane.ts', to: 'runner/converge.ts', isType: false })
    expect(imports).toContainEqual({ from: 'runner/converge.ts', to: 'runner/lane.ts', isType: true })
    expect(imports.filter(({ to }) => !files.includes(to) && !to.endsWith('.json'))).toEqual([])
  })
  test('run one way', () => {
    const wrong = imports.filter(
      ({ from, to }) => layerOf(from) !== layerOf(to) && !below[layerOf(from)]?.includes(layerOf(to)),
    )
    expect(wrong).toEqual([])
  })
  test('report knows the events, and of tasks and the runner nothing but their types', () => {
    const wrong = imports.filter(
      ({ from, to, isType }) =>
        layerOf(from) === 'report' &&
        ['runner', 'tasks'].includes(layerOf(to)) &&
        !(isType && reportMaySee.includes(to)),
    )
    expect(wrong).toEqual([])
  })
  test('only main uses the command line, and nothing uses main', () => {
    expect(imports.filter(({ from, to }) => layerOf(to) === 'cli' && !['cli', 'main'].includes(layerOf(from)))).toEqual(
      [],
    )
    expect(imports.filter(({ to }) => layerOf(to) === 'main')).toEqual([])
  })
  test('go round in no circle', () => {
    const targets = new Map(
      files.map((file) => [file, imports.filter(({ from, isType }) => from === file && !isType).map(({ to }) => to)]),
    )
    const circles: string[] = []
    const done = new Set<string>()
    const walk = (file: string, way: readonly string[]): void => {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' > '))
      if (done.has(file) || way.includes(file)) return
      for (const target of targets.get(file) ?? []) walk(target, [...way, file])
      done.add(file)
    }
    for (const file of files) walk(file, [])
    expect(circles).toEqual([])
  })
})

/** Where a word may stand. */
const only = (word: RegExp, allowed: (file: string) => boolean): string[] =>
  files.filter((file) => !allowed(file) && word.test(codeOf(file)))
const isEdge = (file: string): boolean => ['cli', 'main'].includes(layerOf(file))

describe('what reaches outside', () => {
  test('console: nowhere; process.exit: at the edge', () => {
    expect(only(/\bconsole\.[a-z]+\(/, () => false)).toEqual([])
    expect(only(/\bprocess\.exit\(/, isEdge)).toEqual([])
  })
  test('the environment, the arguments and the streams: at the edge', () => {
    expect(only(/\bprocess\.(env|argv|stdout|stderr|stdin)\b/, isEdge)).toEqual([])
  })
  test('other processes: in transport, and what gives a secret', () => {
    expect(
      only(
        /['"](node:)?child_process['"]/,
        (file) => layerOf(file) === 'transport' || file === 'cli/secret-sources.ts',
      ),
    ).toEqual([])
  })
  test('the core is pure: it reads its own scripts and nothing else of the machine', () => {
    const pure = (file: string): boolean =>
      !['facts', 'changes', 'tasks'].includes(layerOf(file)) || file === 'facts/shell-source.ts'
    expect(
      only(
        /['"]node:(?!crypto['"])|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|(?<!releases\.)\bfetch\(/,
        pure,
      ),
    ).toEqual([])
  })
})

describe('files', () => {
  test('have fewer than 300 lines', () => {
    const all = globSync('**/*.{ts,sh}', { cwd: root })
    expect(all.filter((file) => textOf(file).split('\n').length >= 300)).toEqual([])
  })
  test('lie in no drawer', () => {
    const folders = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(
      folders.map(({ name }) => name).filter((name) => /^(utils?|common|helpers?|types|shared|misc|lib)$/.test(name)),
    ).toEqual([])
  })
  test('there are enough of them for these tests to mean something', () => expect(files.length).toBeGreaterThan(100))
})
