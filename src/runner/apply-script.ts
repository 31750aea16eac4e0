import { type Call, compile, type ExpectedChange } from '../changes/compile.ts'
import { shellSource } from '../facts/shell-source.ts'
import { shellQuote } from '../quote.ts'
import { partsFor } from './apply-parts.ts'
import type { PlannedChange } from './plan.ts'
import type { Run } from './run.ts'

/** What the apply unit runs, the bytes it takes content from, and the seconds all of it may take. */
export interface ApplyScript {
  readonly content: Buffer
  readonly deadlineS: number
  /** `notAfterS`: the host's uptime after which the work is not begun any more. */
  script(token: string, notAfterS: number): Buffer
}

/** Who changes the host, and why. */
type Author = Pick<Run, 'id' | 'operator' | 'reason'>

export type ApplyChange = PlannedChange & Pick<ExpectedChange, 'step' | 'withinS'>

/**
 * Our function files, then one call per line, every word quoted. All of it inside `main`, so that a script
 * that is somehow cut is a syntax error and not half a job. It does the work, and is also what stands around it.
 */
export const applyScript = (run: Author, changes: readonly ApplyChange[]): ApplyScript => {
  const { calls, content, deadlineS } = compile(changes)
  const source = partsFor(calls).map((name) => shellSource(new URL(`../changes/apply/${name}.sh`, import.meta.url)))
  return {
    content,
    deadlineS,
    script: (token, notAfterS) => {
      const setUp = [run.id, journalLine(run, changes), token, String(Math.ceil(notAfterS))]
      const lines = [
        'main() {',
        'case $1 in end | supervise) "$@"; return ;; esac',
        `set_up "$2" ${setUp.map(shellQuote).join(' ')}`,
        ...calls.map(callLine),
        'finish',
        '}',
        'main "$@" </dev/null',
        '',
      ]
      return Buffer.from(source.join('') + lines.join('\n'))
    },
  }
}

/** Function names are ours and bare; everything else is data. */
const callLine = ([name = '', ...args]: Call): string => [name, ...args.map(shellQuote)].join(' ')

/** What the host's own journal says of the segment, under `journalctl -t drover` (E3). */
export const journalLine = (run: Author, changes: readonly Pick<PlannedChange, 'summary'>[]): string =>
  [
    `run ${run.id} by ${run.operator}`,
    ...(run.reason === null ? [] : [`reason: ${run.reason}`]),
    `${changes.length} changes to make: ${changes.map(({ summary }) => summary).join('; ')}`,
  ]
    .join(', ')
    .replaceAll(/[\r\n]/g, ' ')
    .slice(0, 4000)
    // A character that needs two units may have been cut in half.
    .toWellFormed()
