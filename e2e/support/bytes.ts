import fc from 'fast-check'
import type { LabHost } from '../lab/host.ts'

/** Texts that something on the way has been known to change. */
// biome-ignore format: a table of words is to be seen at a glance
const hostileTexts: readonly string[] = [
  '', ' ', '\t', '\n', '\n\n', 'a\n', 'a\n\n', '\na', 'a\r\n', '\r', ' a ', '-', '--', '-n', '-e x', '-rf', '+x', '=', '~', '~root',
  '!', '!!', 'a!b', '%', '%%', '%s', '%h', '%n', '50%', '\\', '\\\\', 'a\\', '\\n', '\\c', '\\0101', "'", "''", "'\\''", '"', '""',
  '$', '$$', '$HOME', '${HOME}', '$${HOME}', '${x', '$(id)', '`id`', '{{ x }}', '#', '# a', 'a # b', '*', '?', '[a]', '{a,b}', '^a^b',
  '&', '&&', '|', ';', '<', '>', '>x', '(', ')', '@', ',', ':', 'a:b', 'a=b', 'null', 'true', '0644', '1.10', '~/x', '-- ', '\x7f',
  '\x1eB 0\n', '\x1eE 0 0\n', '\x1e', '\x1b[31m', '\x01\x02\x03', '\x08', 'é', 'e\u0301', 'ß', '\u00a0', '\u0085', '\u2028', '\u202e',
  '\ufeff', '\ufffd', '\ufffe', '\uffff', '\u{1f600}', '\u{10ffff}', 'ｆ', '日本語', 'EOF', 'E\nE', 'a\\\nb', 'a\\\n', "'\n'", '\\$',
]

const special = [
  ...'\'"`$\\!%#&*;|<>(){}[]?~ \n\t\r-=+^@,:.aé0',
  ...['${', '$${', '\\0', '\x1e', '\x7f', '\u2028', '\u{1f600}'],
]

/** Any text that a file's content, a name or an argument can be: all of Unicode but NUL and halves of pairs. */
const anyText = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ unit: fc.constantFrom(...special), maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\0', '').toWellFormed()),
)

const isName = (text: string): boolean =>
  !['', '.', '..'].includes(text) && !text.includes('/') && Buffer.byteLength(text) <= 255

/** Texts in each place of a host that can hold one. */
export interface Item {
  /** A file of this name has this content. */
  readonly name: string
  readonly content: string
  /** A link leads there, wherever that is. */
  readonly target: string
  /** A command gets these arguments. */
  readonly args: readonly string[]
}

export const anyItem: fc.Arbitrary<Item> = fc.record({
  name: anyText.filter(isName),
  content: anyText,
  target: anyText.filter((text) => text !== ''),
  args: fc.array(anyText, { maxLength: 4 }),
})

/** A third of the hostile texts as names, a third as contents, a third as targets, all as arguments; each `turn` has others where. */
export const hostileItems = (turn: 0 | 1 | 2): readonly Item[] => {
  const size = Math.ceil(hostileTexts.length / 3)
  const text = (index: number, third: number): string =>
    hostileTexts[(index + ((third + turn) % 3) * size) % hostileTexts.length] ?? ''
  return Array.from({ length: size }, (_, index) => {
    const [name, content, target] = [text(index, 0), text(index, 1), text(index, 2)]
    return { name: isName(name) ? name : 'x', content, target: target || 'x', args: [name, content, target] }
  })
}

/** The same texts in few items, several of them one after the other. */
export const packedItems = (count: number): readonly Item[] =>
  Array.from({ length: count }, (_, index) => {
    const args = hostileTexts.filter((_text, at) => at % count === index)
    return { name: args.filter(isName).join(''), content: args.join(''), target: args.join(''), args }
  })

/** Perl, so that what looks at the arguments is no shell itself. */
const record = 'open F, ">", shift or die; print F map { "$_\\0" } @ARGV; close F'
const isRecorded = 'open F, "<", shift or exit 1; local $/; exit !(<F> eq join "", map { "$_\\0" } @ARGV)'

/** As a text of a playbook that means itself. */
const literal = (text: string): string => text.replaceAll('${', () => '$${')

/** YAML in which every character outside of printable ASCII is escaped. */
const yamlOf = (value: unknown): string =>
  JSON.stringify(value).replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * A playbook that brings all items to a host, below `${base}`. Every other item stands in the playbook itself, the rest
 * in variables, which are returned beside it.
 */
export const bytesPlaybook = (items: readonly Item[]): { playbook: string; vars: string } => {
  const vars: Record<string, unknown> = {}
  const steps = items.flatMap((item, index) => {
    const put = (name: string, text: string): string => {
      if (index % 2 === 0) return literal(text)
      vars[`${name}_${index}`] = literal(text)
      return `\${${name}_${index}}`
    }
    const at = `\${base}/${index}`
    const args = item.args.map((arg, n) => put(`arg_${n}`, arg))
    return [
      { task: 'directory-present', with: { path: `${at}/file`, parents: true } },
      {
        task: 'file-present',
        with: { path: `${at}/file/${put('name', item.name)}`, content: put('content', item.content) },
      },
      { task: 'link-present', with: { path: `${at}/link`, target: put('target', item.target) } },
      { task: 'command', with: { argv: ['perl', '-e', record, `${at}/args`, ...args], creates: `${at}/args` } },
    ]
  })
  // One for all: after a command every `unless` is asked anew, so each such step takes a look at the host of its own.
  const all = ['${base}/all', ...items.flatMap((item) => item.args).map(literal)]
  const asked = { argv: ['perl', '-e', record, ...all], unless: ['perl', '-e', isRecorded, ...all] }
  const playbook = {
    name: 'bytes',
    description: 'Any text arrives as it is',
    steps: [...steps, { task: 'command', with: asked }],
  }
  return { playbook: yamlOf(playbook), vars: yamlOf(vars) }
}

const hex = (text: string): string => Buffer.from(text).toString('hex')
const ended = (args: readonly string[]): string => hex(args.map((arg) => `${arg}\0`).join(''))

/** What a host must hold: a line for each item and one for all arguments. */
export const expected = (items: readonly Item[]): string[] => [
  ...items.map(
    ({ name, content, target, args }, index) => `${index} ${hex(name)}=${hex(content)} ${hex(target)} ${ended(args)}`,
  ),
  `all ${ended(items.flatMap(({ args }) => args))}`,
]

/** What it does hold, in the same form. */
export const found = async (host: LabHost, base: string, count: number): Promise<string[]> => {
  const script = `
    my ($base, $count) = @ARGV;
    sub slurp { open my $f, "<", $_[0] or return "none"; local $/; unpack "H*", <$f> // "" }
    for my $i (0 .. $count - 1) {
      opendir my $d, "$base/$i/file";
      my @names = sort grep { $_ ne "." and $_ ne ".." } readdir $d;
      my $files = join ",", map { unpack("H*", $_) . "=" . slurp("$base/$i/file/$_") } @names;
      print "$i $files ", unpack("H*", readlink("$base/$i/link") // "none"), " ", slurp("$base/$i/args"), "\\n";
    }
    print "all ", slurp("$base/all"), "\\n"`
  return (await host.must('exec perl -e "$1" -- "$2" "$3"', [script, base, String(count)])).split('\n')
}
