import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAnswer } from '../../src/facts/answer.ts'
import { AnswerError } from '../../src/facts/answer-error.ts'
import { lastSection } from '../../src/facts/answer-sections.ts'
import { commandKey, type Fact, probeKey } from '../../src/facts/fact.ts'
import { questionFor } from '../../src/facts/question.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { answerOf, answerSections, base64, printAnswer, type RecordedHost } from './answers.ts'

const path = (name: string, more: object = {}): Fact => ({ kind: 'path', path: name, ...more })
const read = (facts: readonly Fact[], host: RecordedHost = {}) => {
  const question = questionFor(facts)
  return readAnswer(question, answerOf(question, host))
}
/** The answer of a host with other lines in one section; null: the section is missing. */
const readWith = (facts: readonly Fact[], section: string, lines: readonly string[] | null) => {
  const question = questionFor(facts)
  const sections = new Map<string, readonly string[]>(answerSections(question))
  if (lines === null) sections.delete(section)
  else sections.set(section, lines)
  return readAnswer(question, printAnswer(sections))
}

describe('paths', () => {
  test('files, directories, links and what is neither', () => {
    const { tree } = read(
      [
        path('/etc/f', { content: 99, sha256: true }),
        path('/etc/d', { entries: true }),
        path('/etc/l'),
        path('/run/s'),
        path('/etc/none'),
      ],
      {
        paths: {
          '/etc/f': { file: 'text', mode: '89e8' },
          '/etc/d': { dir: ['b', 'a\nb', '.x'] },
          '/etc/l': { link: 'f' },
          '/run/s': 'socket',
        },
      },
    )
    expect(lookUp(tree, '/etc/f')).toEqual({
      type: 'file',
      mode: 0o4750,
      uid: 0,
      gid: 0,
      user: 'root',
      group: 'root',
      size: 4,
      inode: '1:3',
      modifiedS: 1700000000,
      sha256: 'a'.repeat(64),
      content: new TextEncoder().encode('text'),
    })
    expect(lookUp(tree, '/etc/d')).toMatchObject({ type: 'directory', entries: ['.x', 'a\nb', 'b'] })
    expect(lookUp(tree, '/etc/l')).toEqual({ type: 'symlink', target: 'f' })
    expect(lookUp(tree, '/etc/l', true)).toMatchObject({ type: 'file', size: 4 })
    expect(lookUp(tree, '/run/s')).toEqual({ type: 'other' })
    expect(lookUp(tree, '/etc/none')).toEqual({ type: 'absent' })
  })
  test('what lies behind links is put where it really is, and read there', () => {
    const { tree } = read([path('/opt/root/lib/x', { content: 9 })], {
      paths: {
        '/opt/root': { link: '/usr/local' },
        '/opt/root/lib': { link: 'lib64' },
        '/opt/root/lib/x': { file: 'x' },
        '/usr': { dir: ['local'] },
        '/usr/local': { dir: ['lib', 'lib64'] },
        '/usr/local/lib64': { dir: ['x'] },
      },
    })
    expect([...tree.nodes.keys()].sort()).toEqual([
      '/',
      '/opt',
      '/opt/root',
      '/usr',
      '/usr/local',
      '/usr/local/lib',
      '/usr/local/lib64',
      '/usr/local/lib64/x',
    ])
    expect(lookUp(tree, '/usr/local/lib64/x')).toMatchObject({ type: 'file', content: new TextEncoder().encode('x') })
  })
  test('two links at each other make no endless reading', () => {
    const { tree } = read([path('/a/x'), path('/a'), path('/b')], {
      paths: { '/a': { link: 'b' }, '/b': { link: 'a' }, '/a/x': 'absent' },
    })
    expect(lookUp(tree, '/a', true)).toEqual({ type: 'absent' })
    expect(lookUp(tree, '/a')).toEqual({ type: 'symlink', target: 'b' })
  })
  test('names of owners may hold blanks', () => {
    const { tree } = read([path('/x')], { paths: { '/x': { file: '', owner: 'AD\\jane doe:domain users' } } })
    expect(lookUp(tree, '/x')).toMatchObject({
      user: 'AD\\jane doe',
      group: 'domain users',
      size: 0,
      modifiedS: 1700000000,
    })
  })
  test.each([
    ['denied', 'drover has no permission to look there'],
    ['remote', 'it is on a network file system, which drover never touches'],
  ] as const)('%s is unreadable', (kind, why) => {
    const { tree } = read([path('/x', { content: 1, sha256: true, entries: true })], { paths: { '/x': kind } })
    expect(lookUp(tree, '/x')).toEqual({ type: 'unreadable', why })
  })
  test('the content that another name asked for is not shortened by one that asked for less', () => {
    const { tree } = read([path('/f', { content: 99 }), path('/l', { content: 2 })], {
      paths: { '/f': { file: 'long text' }, '/l': { link: '/f' } },
    })
    expect(lookUp(tree, '/f')).toMatchObject({ content: new TextEncoder().encode('long text') })
  })

  const fields = (all: string[]): string[] => [base64(all.map((field) => `${field}\0`).join(''))]
  const raced = { type: 'unreadable', why: 'it changed while drover looked' }
  test.each([
    ['no word about it', []],
    ['a link that became none before it was read', ['L', '/x', '']],
    ['a link where the shell had seen none', ['S', '/x', 'a1ff 0 0 1 1700000000 1:1 root:root']],
  ])('%s is a race and no state', (_, all) => {
    expect(lookUp(readWith([path('/x')], 'paths', fields(all)).tree, '/x')).toEqual(raced)
  })
  test('a file that has gone when it is to be read is unreadable, not empty', () => {
    const facts = [path('/x', { content: 9 })]
    const sections = new Map<string, readonly string[]>(
      answerSections(questionFor(facts), { paths: { '/x': { file: 'text' } } }),
    )
    for (const [line, why] of [
      ['none', 'it changed while drover looked'],
      ['text  1', 'reading it ended with 1'],
      ['denied', 'drover has no permission to look there'],
    ]) {
      const state = readAnswer(questionFor(facts), printAnswer(sections.set('texts', [line as string])))
      expect(lookUp(state.tree, '/x')).toEqual({ type: 'unreadable', why })
    }
  })
  test('a file without its digest, and a directory of too many names, are unreadable', () => {
    const facts = [path('/x', { sha256: true }), path('/d', { entries: true })]
    const sections = new Map<string, readonly string[]>(
      answerSections(questionFor(facts), { paths: { '/x': { file: '' }, '/d': { dir: [] } } }),
    )
    const { tree } = readAnswer(questionFor(facts), printAnswer(sections.set('digests', ['']).set('entries', ['many'])))
    expect(lookUp(tree, '/x')).toMatchObject({ type: 'unreadable' })
    expect(lookUp(tree, '/d')).toEqual({ type: 'unreadable', why: 'it holds more names than drover reads' })
  })
})

test('mounts, packages, programs, ports, commands and probes', () => {
  const state = read(
    [
      { kind: 'mount', path: '/opt' },
      { kind: 'mount', path: '/ro' },
      { kind: 'mount', path: '/nfs' },
      { kind: 'mount', path: '/btrfs' },
      { kind: 'package', name: 'curl' },
      { kind: 'package', name: 'gone' },
      { kind: 'package', name: 'none' },
      { kind: 'program', name: 'nft' },
      { kind: 'program', name: 'no' },
      { kind: 'port', port: 22 },
      { kind: 'port', port: 1 },
      { kind: 'command', argv: ['a', 'version'] },
      { kind: 'command', argv: ['missing'] },
      { kind: 'probe', name: 'swap' },
    ],
    {
      mounts: {
        '/ro': `mount rw,noexec,ro ext4 ${base64('/ro disk')} 1024 10 5 2`,
        '/nfs': 'remote',
        '/btrfs': `mount rw,rw btrfs ${base64('/')} 4096 10 0 0`,
      },
      packages: ['installed curl 7.88', 'deinstall gone 1', 'package none is not installed', 'installed other 2'],
      programs: { nft: '/usr/sbin/nft' },
      ports: { 22: 'sshd' },
      commands: [[['a', 'version'], 3, 'v1\n']],
    },
  )
  expect(state.mounts.get('/opt')).toEqual({
    mountPoint: '/',
    fsType: 'ext4',
    readOnly: false,
    noexec: false,
    freeBytes: 4096 * 25600,
    freeInodes: 900,
  })
  expect(state.mounts.get('/ro')).toMatchObject({ mountPoint: '/ro disk', readOnly: true, noexec: true })
  expect(state.mounts.get('/nfs')).toHaveProperty('unreadable')
  expect(state.mounts.get('/btrfs')).toMatchObject({ freeInodes: Number.POSITIVE_INFINITY })
  expect(Object.fromEntries(state.packages)).toEqual({ curl: '7.88', gone: null, none: null })
  expect(state.packageManager).toBe('apt')
  expect(Object.fromEntries(state.programs)).toEqual({ nft: '/usr/sbin/nft', no: null })
  expect([...state.ports]).toEqual([
    [22, 'sshd'],
    [1, null],
  ])
  expect(state.commands.get(commandKey(['a', 'version']))).toEqual({ code: 3, stdout: 'v1\n' })
  expect(state.commands.get(commandKey(['missing']))).toEqual({ code: 127, stdout: '' })
  expect(state.commands.size).toBe(2)
  expect([...state.probes.keys()]).toEqual([probeKey('swap', [])])
})

describe('a malformed answer is an AnswerError, never a state', () => {
  const everything: Fact[] = [
    { kind: 'unit', name: 'a.service', starts: true },
    path('/x', { content: 9, sha256: true, entries: true }),
    { kind: 'mount', path: '/x' },
    { kind: 'package', name: 'p' },
    { kind: 'program', name: 'p' },
    { kind: 'port', port: 1 },
    { kind: 'command', argv: ['a'] },
  ]
  test.each<[string, readonly string[] | null]>([
    ['os', null],
    ['os', []],
    ['os', ['machine x', 'boot b', 'pid1 1', 'uptime 1', 'uid 0', 'clock x', 'manager ']],
    ['os', ['boot b', 'pid1 1', 'uptime 1', 'uid 0', 'clock 1', 'manager ']],
    ['self', null],
    ['self', ['rollback sideways YQ==']],
    ['self', ['lease 1']],
    ['units', null],
    ['units', []],
    ['units', ['exe 1 ']],
    ['units', ['units ']],
    ['units', [`units ${base64('Id=a.service\n\nId=b.service\n')}`]],
    ['units', [`units ${base64('Id=a.service\nId=b.service\n')}`]],
    ['units', [`units ${base64('LoadState=loaded\n')}`]],
    ['units', [`units ${base64('odd\nId=a.service\n')}`]],
    ['units', [`units ${base64('MainPID=5\nId=a.service\n')}`]],
    ['units', [`units ${base64('Wants=a\nWants=b\nId=a.service\n')}`]],
    ['starts', []],
    ['starts', ['starts 1', 'starts 2']],
    ['starts', ['starts x']],
    ['paths', null],
    ['paths', []],
    ['paths', ['YQ==', 'YQ==']],
    ['paths', ['YQ=']],
    ['paths', [base64('S\0/x\0')]],
    ['paths', [base64('S\0/x\x0081a4 0 0 4 17\0')]],
    ['paths', [base64('S\0')]],
    ['paths', [base64('Q\0/x\0')]],
    ['paths', [base64('S\0/x\x0081a4 0 0 4 1700000000 1:1 root:root\0L\0/y\0')]],
    ['texts', []],
    ['texts', ['text YQ==']],
    ['texts', ['text YQ== 0 0']],
    ['texts', ['text Y*== 0']],
    ['digests', []],
    ['digests', [base64('abc */x\0')]],
    ['entries', ['names']],
    ['leftovers', []],
    ['mounts', []],
    ['mounts', [`mount rw ext4 ${base64('/')} 4096 10`]],
    ['mounts', ['mount rw ext4 Lw== 4096 10 x 1']],
    ['packages', []],
    ['packages', ['installed p 1']],
    ['packages', ['manager apt', 'stalled']],
    ['programs', []],
    ['programs', ['at']],
    ['ports', ['busy']],
    ['commands', []],
    ['commands', ['code  YQ==']],
    ['commands', ['code 0 YQ==', 'code 0 YQ==']],
    ['end', null],
    ['unheard-of', []],
  ])('%s with %j', (section, lines) => expect(() => readWith(everything, section, lines)).toThrow(AnswerError))

  const whole = answerOf(questionFor(everything), {
    paths: { '/x': { file: 'text' } },
    units: { 'a.service': { LoadState: 'loaded', MainPID: '5' } },
    exes: { 5: '/bin/a' },
  })
  test('wherever it is cut', () => {
    for (let length = 0; length < whole.length; length += 1) {
      expect(() => readAnswer(questionFor(everything), whole.slice(0, length)), `cut at ${length}`).toThrow(AnswerError)
    }
    expect(readAnswer(questionFor(everything), whole).units.get('a.service')?.exe).toBe('/bin/a')
  })
  test('the error names the section that was being read', () => {
    const cut = whole.slice(0, whole.indexOf('\x1eS texts') + 8)
    expect(() => readAnswer(questionFor(everything), `${cut}\n`)).toThrow(/^section texts: the answer stops here$/)
    expect(lastSection(`${cut}\n`)).toBe('texts')
    expect(lastSection('')).toBe('start')
  })
  test('no byte that is changed or lost on the way makes any other error', () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.constantFrom('', '\n', ' ', '\x1e', 'A', '=', '0'), (at, byte) => {
        try {
          readAnswer(questionFor(everything), whole.slice(0, at) + byte + whole.slice(at + 1))
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(AnswerError)
        }
      }),
      { numRuns: 1000 },
    )
  })
  test('and says nothing of what was in the line: it may be secret', () => {
    const secret = base64('hunter2hunter2')
    const error = (() => {
      try {
        return readWith(everything, 'texts', [`text ${secret}% 0`])
      } catch (thrown) {
        return thrown
      }
    })()
    expect(String(error)).toMatch(/^AnswerError: section texts: line 1/)
    expect(String(error)).not.toContain(secret)
  })
  test('content of many megabytes is read, and refused, without a deep stack', () => {
    const facts = [path('/x', { content: 1 })]
    const big = Buffer.alloc(24_000_000, 7).toString('base64')
    expect(() => readWith(facts, 'texts', [`text ${big} 0`])).not.toThrow()
    expect(() => readWith(facts, 'texts', [`text ${big}% 0`])).toThrow(AnswerError)
  })
})
