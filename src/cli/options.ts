import { type Command, InvalidArgumentError, Option } from 'commander'
import { durationS } from '../playbook/duration.ts'

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

export const positiveInteger = (text: string): number => {
  const value = Number(text)
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value
  throw new InvalidArgumentError('It must be a whole number, 1 or more.')
}

/** In seconds. */
export const duration = (text: string): number => {
  const seconds = durationS(text)
  if (seconds !== null) return seconds
  throw new InvalidArgumentError('It must be a length of time such as 90s, 10m or 1h30m, up to a day.')
}

const rateUnits = { '': 1, k: 1e3, m: 1e6, g: 1e9 } as const

/** In bytes a second. */
export const rate = (text: string): number => {
  const match = /^(\d+(?:\.\d+)?)([kmg]?)(?:b?\/s)?$/i.exec(text)
  const bytes = Number(match?.[1]) * rateUnits[(match?.[2] ?? '').toLowerCase() as keyof typeof rateUnits]
  if (bytes >= 1000 && bytes <= 1e12) return bytes
  throw new InvalidArgumentError('It must be bytes a second such as 500k, 10M or 1.5G, 1k or more.')
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

const passwordFile = (flags: string, description: string, asked: string): Option =>
  new Option(flags, description).conflicts(asked)

export const sshConfigOption = (): Option =>
  new Option(
    '-F, --ssh-config <file>',
    "this ssh_config instead of the user's and the system's, or none [env: DROVER_SSH_CONFIG]",
  )

/** What all verbs that connect take. */
export const connectionOptions = (command: Command): Command =>
  command
    .option('-f, --forks <hosts>', 'hosts at a time (also --concurrency)', positiveInteger, 20)
    .addOption(aliasOf('forks', '--concurrency <hosts>', positiveInteger))
    .option('-u, --user <name>', 'connect as this user where the inventory names none')
    .option('-b, --become', 'get root rights through sudo on all hosts, whatever the inventory says')
    .addOption(
      new Option('--become-method <method>', 'how root rights are had where the inventory does not say').choices([
        'sudo',
        'doas',
      ]),
    )
    .option('-k, --ask-pass', 'ask once for the login password of all hosts [env: DROVER_SSH_PASSWORD]')
    .addOption(passwordFile('--connection-password-file <file>', 'the login password is in this file', 'askPass'))
    .addOption(aliasOf('connectionPasswordFile', '--conn-pass-file <file>'))
    .option('-K, --ask-become-pass', 'ask once for the password of sudo or doas [env: DROVER_BECOME_PASSWORD]')
    .addOption(
      passwordFile('--become-password-file <file>', 'the password of sudo or doas is in this file', 'askBecomePass'),
    )
    .addOption(aliasOf('becomePasswordFile', '--become-pass-file <file>'))
    .option(
      '-T, --connect-timeout <seconds>',
      'how long TCP and then the SSH handshake may take with each host (default: 10, 20)',
      positiveInteger,
    )
    .option('--private-key <file>', 'use this key where the inventory names none [env: DROVER_KEY_PASSPHRASE opens it]')
    .addOption(sshConfigOption())
    .option('--known-hosts <file>', 'check all host keys against this file')
    .addOption(
      new Option('--host-key-policy <policy>', 'how to treat the host keys of all hosts').choices([
        'strict',
        'accept-new',
        'off',
      ]),
    )
    .addOption(
      new Option(
        '--transport <client>',
        "connect to all hosts by drover's own client, or by this machine's ssh",
      ).choices(['auto', 'ssh2', 'openssh']),
    )

export const logOptions = (command: Command): Command =>
  command
    .option('-v, --verbose', 'say more; -vv for debugging', counter, 0)
    .option('--log-file <file>', 'also write the log, events included, as JSON to this file')

export const sinceOption = (): Option =>
  new Option('--since <duration>', 'how far back journals are read: 30m, 24h')
    .argParser(duration)
    .default(86_400, '24h')

export const outputOption = (command: Command, choices: readonly [string, ...string[]]): Command =>
  command.addOption(new Option('-o, --output <format>', 'form of the result').choices(choices).default(choices[0]))

/** What a run of one built-in step takes beside that: all that says how it is recorded and shown. */
export const recordedOptions = (command: Command): Command =>
  outputOption(
    logOptions(
      command
        .option('-C, --check', 'dry run: read and plan, change nothing (also --dry-run)')
        .addOption(aliasOf('check', '--dry-run'))
        .option('-y, --yes', 'ask nothing; nothing is asked')
        .option('--reason <text>', "why; goes into the report and the hosts' journals", oneLine)
        .option('--detailed-exitcode', 'with --check: exit 6 where something would change')
        .option('--stall-after <seconds>', 'tell of a host that has been silent for this long', positiveInteger, 30)
        .option('--runs-dir <dir>', 'where journals and reports are kept', './.drover/runs'),
    ),
    ['text', 'json'],
  )

/** What both verbs take that render files to make hosts with. */
export const provisionOptions = (command: Command): Command =>
  outputOption(
    logOptions(
      command
        .requiredOption('--out <dir>', 'where the files go; made for you alone if it is not there')
        .option(
          '-e, --extra-vars <vars>',
          'name=value, {"name": ...} or @file; above all other variables; repeatable',
          collect,
        )
        .option('--bootstrap-script <file>', "a release's bootstrap.sh, embedded unchanged (default: drover's own)")
        .option('--bootstrap-script-sha256 <hex>', 'its SHA-256')
        .option('--ssh-authorized-key <key>', 'a public key, or a file of them, that may log in; repeatable', collect)
        .option('--force', 'write over the files of an earlier time'),
    ),
    ['text', 'json'],
  )
