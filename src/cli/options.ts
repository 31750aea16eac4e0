import { type Command, InvalidArgumentError, Option } from 'commander'

/** Another spelling of an option, for those who come from other tools; it is not in the help. */
export const aliasOf = (name: string, flags: string, parser?: (text: string) => unknown): Option => {
  const option = new Option(flags).hideHelp()
  option.attributeName = () => name
  return parser === undefined ? option : option.argParser(parser)
}

export const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
]

const counter = (_value: unknown, before: number | undefined): number => (before ?? 0) + 1

const positiveInteger = (text: string): number => {
  const value = Number(text)
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value
  throw new InvalidArgumentError('It must be a whole number, 1 or more.')
}

export const commaList = (text: string, before: readonly string[] | undefined): readonly string[] => {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('It must be names with a comma between two, or all.')
  return [...(before ?? []), ...names]
}

/** It goes into the journal of every host, as a part of a line. */
export const oneLine = (text: string): string => {
  const line = text.trim().replace(/\s+/g, ' ')
  if (line === '' || /\p{C}/u.test(line)) throw new InvalidArgumentError('It must be one line of printable text.')
  return line
}

/** What all verbs that read an inventory take. */
export const inventoryOptions = (command: Command): Command =>
  command
    .option(
      '-i, --inventory <source>',
      'inventory file, or hosts as "a,b:2222,"; repeatable [env: DROVER_INVENTORY]',
      collect,
    )
    .option('-l, --limit <pattern>', 'only these hosts: a pattern such as web,!web3 or @file')

/** What all verbs that connect take. */
export const connectionOptions = (command: Command): Command =>
  command
    .option('-f, --forks <hosts>', 'hosts at a time (also --concurrency)', positiveInteger, 20)
    .addOption(aliasOf('forks', '--concurrency <hosts>', positiveInteger))
    .option('-u, --user <name>', 'connect as this user where the inventory names none')
    .option('-b, --become', 'get root rights through sudo on all hosts, whatever the inventory says')
    .option('--private-key <file>', 'use this key where the inventory names none [env: DROVER_KEY_PASSPHRASE opens it]')
    .option('--known-hosts <file>', 'check all host keys against this file')
    .addOption(
      new Option('--host-key-policy <policy>', 'how to treat the host keys of all hosts').choices([
        'strict',
        'accept-new',
        'off',
      ]),
    )

export const logOptions = (command: Command): Command =>
  command
    .option('-v, --verbose', 'say more; -vv for debugging', counter, 0)
    .option('--log-file <file>', 'also write the log, events included, as JSON to this file')

export const outputOption = (command: Command, choices: readonly [string, ...string[]]): Command =>
  command.addOption(new Option('-o, --output <format>', 'form of the result').choices(choices).default(choices[0]))
