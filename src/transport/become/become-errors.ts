import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { lastWords } from '../script/noise.ts'
import { type Becoming, becomeCauses, type Failure, needsTerminal, refused } from './become-causes.ts'

/** sudo insists on a terminal, and the command had none. */
export class TerminalRequired extends DroverError {}

/** Why there are no root rights, from the words of sudo or doas; undefined: they are not its words. */
export const becomeError = (said: string, becoming: Becoming): DroverError | undefined => {
  if (said === '') return undefined
  const { become, host, terminal } = becoming
  if (/must have a tty/.test(said) && !terminal) return new TerminalRequired(details(needsTerminal(becoming), said))
  const cause = becomeCauses.find(
    ({ method = become.method, said: words }) => method === become.method && words.test(said),
  )
  if (cause !== undefined) return new DroverError(details(cause.failure(becoming), said))
  const line = said
    .split('\n')
    .findLast((each) => /^(sudo|sudo-rs|doas): /.test(each) && !/unable to resolve/.test(each))
  if (line === undefined) return undefined
  return new DroverError(
    details(
      { message: `${become.method} on ${host.name} gives no root rights: ${line}`, remedy: byHand(becoming) },
      said,
    ),
  )
}

const details = ({ message, remedy }: Failure, detail: string) =>
  ({ code: 'become-failed', message, remedy, ...(detail !== '' && { detail }) }) as const

/** Where drover ends the talk itself: what sudo said, and why that is the end. */
export const becomeFailures = {
  /** Not ours. Or the reason is known, as where the password has expired and a new one is wanted. */
  askedOther: (said: string, becoming: Becoming): DroverError => {
    const question = lastWords(said)
    const reason = becomeError(said, becoming)
    return reason ?? new DroverError(details(notOurs(becoming.host.name, question), question === said ? '' : said))
  },
  /** Not sent: a directory locks an account at three or more refusals. */
  refusedElsewhere: (host: Pick<Host, 'name'>, by: readonly string[]): DroverError =>
    new DroverError(
      details(
        {
          message: `The password for sudo was not tried on ${host.name}: ${by.join(' and ')} refused it.`,
          remedy: 'Give the right one (-K). Where hosts have different passwords, give each its own `become_password`.',
        },
        '',
      ),
    ),
  askedAgain: (said: string, becoming: Becoming): DroverError => {
    const { host, answeredFor = host.user } = becoming
    if (said !== '') return new DroverError(details(refused(host.name, answeredFor), said))
    return new DroverError(
      details(
        {
          message: `sudo on ${host.name} asked twice without a word against the password: it wants more than that, such as a code.`,
          remedy: 'drover has only the password. Let sudo there ask for that alone, or give the user a NOPASSWD rule.',
        },
        '',
      ),
    )
  },
}

const notOurs = (host: string, question: string): Failure => ({
  message: `sudo on ${host} did not ask with drover's own prompt but with: ${question.trim()}`,
  remedy:
    'Nothing was typed in answer. If this is the question for the password, `Defaults:USER passprompt_override` in ' +
    'sudoers has sudo ask as it is told; a one-time code cannot be given. With a NOPASSWD rule nothing is asked.',
})

const byHand = ({ host, become: { method } }: Becoming): string =>
  `See what \`${method} -n true\` says to ${host.user} on ${host.name}. \`become: false\` and a login as root need no ${method}.`

/** sudo has said no to the password itself, and to nothing else. */
export const isRefusedPassword = (error: unknown): boolean =>
  error instanceof DroverError && error.code === 'become-failed' && error.message.includes(' refused the password of ')
