import { type Bundle, bundleOf } from '../collect/bundle.ts'
import { collectScript } from '../collect/host-script.ts'
import type { Part } from '../collect/part.ts'
import { CollectAnswerError, type HostAnswer, lastPart, readAnswer } from '../collect/read-answer.ts'
import { DroverError, toDroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import { printableText } from '../printable.ts'
import type { ErrorReport } from '../runner/events.ts'
import { type Link, openLink } from '../runner/link.ts'
import { errorReport } from '../runner/outcome.ts'
import { outlive } from '../runner/outlive.ts'
import type { Run } from '../runner/run.ts'
import { runScript } from '../transport/script/run-script.ts'

/** What became of one host. */
export type Collected = {
  readonly host: string
} & (
  | {
      readonly bundle: Pick<Bundle, 'parts' | 'hidden'>
      readonly file: string
      readonly bytes: number
      readonly isRoot: boolean
    }
  | { readonly error: ErrorReport }
)

export interface Collecting {
  readonly run: Run
  readonly parts: readonly Part[]
  readonly sinceS: number
  readonly version: string
  readonly now: () => Date
  readonly redact: (text: string) => string
  /** Puts the bundle where it belongs; its file and size. */
  readonly store: (host: string, bundle: Bundle, mtime: Date) => Promise<{ file: string; bytes: number }>
}

/** All parts together may take so long on a host; then what is left is left out. */
const budgetS = 150
/** For what is under way when the time is up, and the answer's way here. */
const graceS = 90
/** An answer has a third more than the parts, as base64. */
const maxBytes = 16 * 1024 * 1024

/** One host's bundle: one connection, one command, nothing written there. Never throws. */
export const collectLane = async (collecting: Collecting, host: Host): Promise<Collected> => {
  const { run, redact } = collecting
  let link: Link | undefined
  try {
    if (run.softStop.aborted) throw notBegun()
    link = await openLink(run, host)
    const open = link
    const answer = await outlive(open, () => ask(collecting, host, open))
    const collected = collecting.now()
    const { parts, sinceS, version } = collecting
    const info = { host: host.name, collected, version, sinceS }
    const bundle = bundleOf(parts, answer, { info, redact })
    const { file, bytes } = await collecting.store(host.name, bundle, collected)
    const { hidden, parts: told } = bundle
    return { host: host.name, bundle: { parts: told, hidden }, file, bytes, isRoot: answer.isRoot }
  } catch (thrown) {
    return { host: host.name, error: errorReport(toDroverError(thrown).at({ host: host.name })) }
  } finally {
    await link?.close()
  }
}

const ask = async ({ run, parts }: Collecting, host: Host, link: Link): Promise<HostAnswer> => {
  const seen: Uint8Array[] = []
  try {
    const { code, stdout, stderr } = await runScript(link.connection, {
      run: run.id,
      verb: 'collect',
      ...collectScript(parts, budgetS),
      become: run.becomeOf(host),
      deadlineMs: (budgetS + graceS) * 1000,
      maxBytes,
      onStdout: (chunk) => seen.push(chunk),
      signal: run.hardStop,
    })
    if (code !== 0)
      throw new CollectAnswerError(printableText(stderr.toString('utf8')).trim() || `it ended with exit code ${code}`)
    return readAnswer(stdout.toString('latin1'), parts)
  } catch (thrown) {
    if (thrown instanceof CollectAnswerError) throw unreadable(thrown)
    if (thrown instanceof DroverError && thrown.code === 'command-timeout')
      throw stalled(thrown, lastPart(Buffer.concat(seen).toString('latin1')))
    throw thrown
  }
}

const unreadable = (cause: CollectAnswerError): DroverError =>
  new DroverError({
    code: 'inspect-failed',
    message: `What the host answered cannot be read: ${cause.message}.`,
    remedy: 'Run again with -vv. If the host is not at fault, report it.',
    cause,
  })

const stalled = (cause: DroverError, part: string | null): DroverError =>
  new DroverError({
    code: 'inspect-stalled',
    message: `Collecting came to a stand ${part === null ? 'before its first part' : `in part '${part}'`}.`,
    remedy: 'Something there does not answer: a hung mount, a disk, systemd or the journal. Look at the host by hand.',
    cause,
  })

const notBegun = (): DroverError =>
  new DroverError({
    code: 'cancelled',
    message: 'Interrupted before this host was looked at.',
    remedy: 'Run drover collect again.',
  })
