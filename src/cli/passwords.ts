import { resolve } from 'node:path'
import { DroverError } from '../errors.ts'
import { needsSudo } from '../inventory/become.ts'
import type { Host } from '../inventory/host.ts'
import type { Problem } from '../inventory/names.ts'
import type { ReadSecret } from '../inventory/secret-reader.ts'
import type { Secret, SecretReference } from '../secret.ts'
import type { CliContext } from './context.ts'
import { passwordReader, typedPassword } from './password-source.ts'

export interface PasswordOptions {
  readonly askPass?: true
  readonly connectionPasswordFile?: string
  readonly askBecomePass?: true
  readonly becomePasswordFile?: string
}

/** The passwords of a run: had before any host is touched, and asked for once. */
export interface Passwords {
  /** Reads what lies in files and variables; throws what is wrong with it. */
  read(hosts: readonly Host[]): void
  /** Asks for the rest: last of all, so that nobody types a password for a request that is refused. */
  ask(): Promise<void>
  passwordOf(host: Host): Secret | undefined
  becomePasswordOf(host: Host): Secret | undefined
  /** What opened a private key. */
  keep(passphrase: Secret): void
  /** All of them, for the redactor alone. */
  all(): readonly Secret[]
}

type Purpose = 'login' | 'become'

/** A host's own password comes first, then what an option gives to all hosts, then the environment. */
export const createPasswords = (
  context: Pick<CliContext, 'ask' | 'cwd' | 'env'>,
  options: PasswordOptions,
): Passwords => {
  const read = passwordReader(context)
  const passphrases: Secret[] = []
  const common: Partial<Record<Purpose, Secret>> = {}
  let hosts: readonly Host[] = []

  const find = (purpose: Purpose, host: Host): Secret | undefined => {
    const reference = referenceOf(purpose, host)
    return reference === undefined ? common[purpose] : secretIn(read(reference))
  }
  const isWanted = (purpose: Purpose): boolean =>
    hosts.some((host) => uses(purpose, host) && referenceOf(purpose, host) === undefined)
  const take = (purpose: Purpose, found: ReturnType<ReadSecret>): void => {
    if ('problem' in found) throw usage(found.problem)
    common[purpose] = found.secret
  }
  const ask = async (text: string): Promise<string> => {
    const answer = await context.ask({ text, isHidden: true })
    if (answer === null) throw usage(noTerminal)
    return answer
  }

  return {
    read: (chosen) => {
      hosts = chosen.flatMap((host) => [...host.jump, host])
      if (options.askBecomePass && !hosts.some(({ become }) => become)) throw usage(nobodyBecomes)
      for (const purpose of ['login', 'become'] as const) {
        const source = sourceOf(purpose, options, context)
        if (source !== undefined && isWanted(purpose)) take(purpose, read(source))
      }
      refuseUnreadable(hosts, read)
    },
    ask: async () => {
      if (options.askPass && isWanted('login'))
        take('login', typedPassword(await ask('Login password: '), 'What was typed'))
      if (!options.askBecomePass || !isWanted('become')) return
      const { login } = common
      const typed = await ask(`Password to become root${login ? ' [the login password]' : ''}: `)
      take('become', typed === '' && login ? { secret: login } : typedPassword(typed, 'What was typed'))
    },
    passwordOf: (host) => find('login', host),
    becomePasswordOf: (host) => find('become', host),
    keep: (passphrase) => passphrases.push(passphrase),
    all: () => [
      ...passphrases,
      ...hosts
        .flatMap((host) =>
          (['login', 'become'] as const).map((purpose) => (uses(purpose, host) ? find(purpose, host) : undefined)),
        )
        .filter((secret) => secret !== undefined),
    ],
  }
}

const referenceOf = (purpose: Purpose, host: Host): SecretReference | undefined =>
  purpose === 'login' ? host.password : host.becomePassword

const uses = (purpose: Purpose, host: Host): boolean => purpose === 'login' || needsSudo(host)

/** Where the password of all hosts is to be read; undefined: it is asked for, or there is none. */
const sourceOf = (
  purpose: Purpose,
  options: PasswordOptions,
  { cwd, env }: Pick<CliContext, 'cwd' | 'env'>,
): SecretReference | undefined => {
  const [isAsked, file, variable] =
    purpose === 'login'
      ? [options.askPass, options.connectionPasswordFile, 'DROVER_SSH_PASSWORD']
      : [options.askBecomePass, options.becomePasswordFile, 'DROVER_BECOME_PASSWORD']
  if (file !== undefined) return { file: resolve(cwd, file) }
  return isAsked || !env[variable] ? undefined : { env: variable }
}

const refuseUnreadable = (hosts: readonly Host[], read: ReadSecret): void => {
  const problems = new Map<string, { problem: Problem; names: Set<string> }>()
  for (const host of hosts) {
    for (const purpose of ['login', 'become'] as const) {
      const reference = referenceOf(purpose, host)
      const found = reference && uses(purpose, host) ? read(reference) : undefined
      if (found === undefined || 'secret' in found) continue
      const known = problems.get(found.problem.message) ?? { problem: found.problem, names: new Set() }
      known.names.add(host.name)
      problems.set(found.problem.message, known)
    }
  }
  const [first] = problems.values()
  if (first === undefined) return
  throw new DroverError({
    code: 'inventory-invalid',
    message: [...problems.values()]
      .map(({ problem, names: [name = '', ...others] }) =>
        others.length === 0
          ? `${problem.message} It is for ${name}.`
          : `${problem.message} It is for ${name} and ${others.length} more.`,
      )
      .join('\n'),
    remedy: first.problem.remedy,
  })
}

const secretIn = (found: ReturnType<ReadSecret>): Secret | undefined => ('secret' in found ? found.secret : undefined)

const usage = ({ message, remedy }: Problem): DroverError => new DroverError({ code: 'usage', message, remedy })

const noTerminal: Problem = {
  message: 'There is no terminal to ask for a password.',
  remedy:
    'Start drover in a terminal, or give the password in a file (--connection-password-file, --become-password-file) ' +
    'or a variable (DROVER_SSH_PASSWORD, DROVER_BECOME_PASSWORD).',
}

const nobodyBecomes: Problem = {
  message: 'No host of this run becomes root, so there is no use for --ask-become-pass.',
  remedy: 'Add -b, write `become: true` in the inventory, or leave the option out.',
}
