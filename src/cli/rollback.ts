import { DroverError } from '../errors.ts'
import type { BuiltIn } from './built-in.ts'
import type { WholeContext } from './context.ts'
import { run } from './run.ts'
import type { RunOptions } from './run-options.ts'

const keep: BuiltIn = {
  file: 'built-in/confirm.yaml',
  text: `name: confirm
description: What an armed rollback guards is kept
steps:
  - task: rollback-confirmed
`,
}

const undo: BuiltIn = {
  file: 'built-in/rollback-now.yaml',
  text: `name: rollback-now
description: An armed rollback is fired at once
steps:
  - task: rollback-fired
`,
}

/** No file is sent in such a run. */
type Options = Omit<RunOptions, 'uploadForks'>

const runBuiltIn = (context: WholeContext, asked: BuiltIn, options: Options): Promise<number> =>
  run(context, asked, { ...options, uploadForks: 1 })

/** `drover confirm`: an ordinary run of one step, so that journal, reports and exit codes are those of every run. */
export const confirm = (context: WholeContext, options: Options): Promise<number> => runBuiltIn(context, keep, options)

/** `drover rollback --now`, likewise. */
export const rollback = async (
  context: WholeContext,
  { now, ...options }: Options & { readonly now?: true },
): Promise<number> => {
  if (now !== true) throw unclear()
  return runBuiltIn(context, undo, options)
}

/** Two things go by that name, and one of them must not be done by mistake. */
const unclear = (): DroverError =>
  new DroverError({
    code: 'usage',
    message: 'drover rollback does not say which rollback is meant.',
    remedy:
      'drover rollback --now fires the rollback that a run has armed and nobody has confirmed. To go back from an agent that was confirmed: drover run rollback.',
  })
