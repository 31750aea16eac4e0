import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { Become } from '../become/become.ts'
import { becomeError, becomeFailures } from '../become/become-errors.ts'
import type { Question } from '../become/become-talk.ts'
import type { ExecResult } from '../connection.ts'
import { damagedScriptExit } from './command.ts'
import type { Framed } from './framing.ts'
import { lastWords, noiseText } from './noise.ts'

type End = Pick<ExecResult, 'code' | 'signal'>

/** How the command was run. */
export interface Attempt {
  readonly host: Pick<Host, 'name' | 'user'>
  readonly become: Become | null
  readonly askToken: string
  readonly terminal: boolean
  readonly answeredFor?: string | undefined
}

/** Why a command that ended gave no answer of our script. */
export const frameError = (
  framed: Exclude<Framed, { kind: 'complete' }>,
  ended: End,
  attempt: Attempt,
): DroverError => {
  if (framed.kind === 'cut') return cutError(noiseText(framed.stderr, attempt), ended)
  const stderr = noiseText(framed.noise.stderr, attempt)
  const stdout = noiseText(framed.noise.stdout, attempt)
  if (ended.code === damagedScriptExit) return damagedError(stderr)
  return shellError(ended, attempt, [stderr, stdout])
}

/** The time was over before the first line of our script. */
export const notBegunError = (deadlineMs: number, noise: Uint8Array, attempt: Attempt): DroverError => {
  const { host, become } = attempt
  return new DroverError({
    code: 'channel-failed',
    message:
      `${host.name} had not begun drover's script after ${Math.round(deadlineMs / 1000)} s: ` +
      `the login shell of ${host.user}${become === null ? '' : ` or ${become.method}`} is still busy.`,
    remedy:
      `See how long \`ssh ${host.name} true\` takes by hand. A startup file that waits (.bashrc, /etc/profile.d), a ` +
      'home directory on a dead mount or a directory service that does not answer holds it up.',
    ...detailOf(noiseText(noise, attempt)),
  })
}

/** sudo asks what is not to be answered: something of its own, or for the password again. */
export const questionError = (question: Question, said: Uint8Array, attempt: Attempt): DroverError => {
  const { become, ...how } = attempt
  const becoming = { answeredFor: undefined, ...how, become: become ?? { method: 'sudo' } }
  const text = noiseText(said, attempt)
  return question === 'again' ? becomeFailures.askedAgain(text, becoming) : becomeFailures.askedOther(text, becoming)
}

/** What a login shell that is none says, wherever it says it. */
const shellCauses: readonly { said: RegExp; message: (user: string) => string; remedy: string }[] = [
  {
    said: /account is (currently )?not available|nologin/i,
    message: (user) => `is closed to ${user}: the login shell is nologin`,
    remedy: 'Give the user a login shell (`chsh -s /bin/sh USER`), or log in as another user.',
  },
  {
    said: /\brestricted\b/,
    message: (user) => `lets ${user} run no command of drover's: the login shell is a restricted one`,
    remedy: 'Give the user a login shell without restrictions (`chsh -s /bin/sh USER`), or log in as another user.',
  },
  {
    said: /sftp connections only/i,
    message: (user) => `lets ${user} in for sftp alone`,
    remedy: 'Take the user out of the ForceCommand in sshd_config, or log in as another user.',
  },
]

const shellError = (ended: End, attempt: Attempt, [stderr, stdout]: [string, string]): DroverError => {
  const { host, become, terminal, answeredFor } = attempt
  const said = [stderr, stdout].filter((text) => text !== '').join('\n')
  const cause = shellCauses.find((each) => each.said.test(said))
  if (cause !== undefined) {
    const message = `${host.name} ${cause.message(host.user)}.`
    return new DroverError({ code: 'channel-failed', message, remedy: cause.remedy, ...detailOf(said) })
  }
  if (become !== null && ended.code !== 0) {
    const error = becomeError(stderr, { host, become, terminal, answeredFor })
    if (error !== undefined) return error
  }
  const last = lastWords(stderr) || lastWords(stdout)
  return new DroverError({
    code: 'channel-failed',
    message:
      `The login shell of ${host.user} on ${host.name} did not run drover's command: it ended with ${endOf(ended)}` +
      `${last === '' ? ' without a word' : `, saying: ${last}`}`,
    remedy: `Run \`ssh ${host.name} true\` by hand. The user needs a login shell that runs commands, and the host needs /bin/sh.`,
    ...detailOf(said === last ? '' : said),
  })
}

const damagedError = (stderr: string): DroverError => {
  // In the words of any shell: it names the tool that it did not find.
  const [, tool] = /\b(dd|sha256sum): (?:command )?not found/.exec(stderr) ?? []
  if (tool !== undefined)
    return new DroverError({
      code: 'precondition-unmet',
      message: `The host has no ${tool}, without which drover cannot tell whether its script arrived whole.`,
      remedy: 'Install coreutils on the host.',
      ...detailOf(stderr),
    })
  return new DroverError({
    code: 'channel-failed',
    message: 'The script did not arrive as it was sent, and was not run.',
    remedy:
      "See that nothing in the user's shell startup files reads standard input, and that the host has dd and sha256sum.",
    ...detailOf(stderr),
  })
}

const cutError = (stderr: string, ended: End): DroverError =>
  new DroverError({
    code: 'connection-lost',
    message: `The script on the host ended with ${endOf(ended)} before its answer was complete; what it did is unknown.`,
    remedy: 'Look in the journal of the host for what killed it (out of memory, a session limit), then run again.',
    ...detailOf(stderr),
  })

const endOf = ({ code, signal }: End): string => (signal === null ? `exit status ${code}` : signal)

const detailOf = (detail: string): { detail?: string } => (detail === '' ? {} : { detail })
