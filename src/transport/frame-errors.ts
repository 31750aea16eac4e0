import { DroverError } from '../errors.ts'
import { printableText as printable } from '../printable.ts'
import type { Become } from './become.ts'
import { damagedScriptExit } from './command.ts'
import type { ExecResult } from './connection.ts'
import type { Framed } from './framing.ts'

/** Why a command that ended gave no answer of our script. */
export const frameError = (
  framed: Exclude<Framed, { kind: 'complete' }>,
  ended: Pick<ExecResult, 'code' | 'signal'>,
  become: Become | null,
): DroverError => {
  if (framed.kind === 'cut') return cutError(framed, ended)
  const stderr = words(framed.noise.stderr)
  if (ended.code === damagedScriptExit) return damagedError(stderr)
  if (become !== null && ended.code !== 0 && stderr !== '') return becomeError(stderr)
  return new DroverError({
    code: 'channel-failed',
    message: `The host did not run drover's command: its login shell ended with ${endOf(ended)} before the first line.`,
    remedy: 'Run `ssh HOST true` by hand. The user needs a login shell that runs commands, and the host needs /bin/sh.',
    ...detailOf([stderr, words(framed.noise.stdout)].filter((text) => text !== '').join('\n')),
  })
}

const becomeError = (stderr: string): DroverError =>
  new DroverError({
    code: 'become-failed',
    message: `sudo gives no root rights: ${stderr.split('\n').at(-1)}`,
    remedy:
      'Give the user a sudoers rule `USER ALL=(root) NOPASSWD: ALL`, or set `become: false` and connect as root. ' +
      'drover never types a sudo password.',
    detail: stderr,
  })

const damagedError = (stderr: string): DroverError =>
  new DroverError({
    code: 'channel-failed',
    message: 'The script did not arrive as it was sent, and was not run.',
    remedy:
      "See that nothing in the user's shell startup files reads standard input, and that the host has dd and sha256sum.",
    ...detailOf(stderr),
  })

const cutError = (framed: Extract<Framed, { kind: 'cut' }>, ended: Pick<ExecResult, 'code' | 'signal'>): DroverError =>
  new DroverError({
    code: 'connection-lost',
    message: `The script on the host ended with ${endOf(ended)} before its answer was complete; what it did is unknown.`,
    remedy: 'Look in the journal of the host for what killed it (out of memory, a session limit), then run again.',
    ...detailOf(words(framed.stderr)),
  })

const endOf = ({ code, signal }: Pick<ExecResult, 'code' | 'signal'>): string =>
  signal === null ? `exit status ${code}` : signal

const words = (bytes: Buffer): string => printable(bytes).trim()

const detailOf = (detail: string): { detail?: string } => (detail === '' ? {} : { detail })
