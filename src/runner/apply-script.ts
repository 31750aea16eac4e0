import { type Call, compile } from '../changes/compile.ts'
import { shellSource } from '../facts/shell-source.ts'
import { shellQuote } from '../transport/quote.ts'
import type { PlannedChange } from './plan.ts'
import type { Run } from './run.ts'

/** What the apply unit runs, the bytes it takes content from, and the seconds all of it may take. */
export interface ApplyScript {
  readonly script: Buffer
  readonly content: Buffer
  readonly deadlineS: number
}

/**
 * Our function files, then one call per line, every word quoted. All of it inside `main`, so that a script
 * that is somehow cut is a syntax error and not half a job.
 */
export const applyScript = (run: Run, changes: readonly PlannedChange[], token: string): ApplyScript => {
  const { calls, content, deadlineS } = compile(changes)
  const lines = [
    'main() {',
    `set_up "$1" ${[run.id, journalLine(run, changes), token].map(shellQuote).join(' ')}`,
    ...calls.map(callLine),
    'finish',
    '}',
    'main "$@" </dev/null',
    '',
  ]
  const source = ['steps', 'control'].map((name) =>
    shellSource(new URL(`../changes/apply/${name}.sh`, import.meta.url)),
  )
  return { script: Buffer.from(source.join('') + lines.join('\n')), content, deadlineS }
}

/** Function names are ours and bare; everything else is data. */
const callLine = ([name = '', ...args]: Call): string => [name, ...args.map(shellQuote)].join(' ')

/** What the host's own journal says of the segment, under `journalctl -t drover` (E3). */
export const journalLine = (run: Run, changes: readonly PlannedChange[]): string =>
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
