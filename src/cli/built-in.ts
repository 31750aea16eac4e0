import { loadPlaybook } from '../playbook/load.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { WholeContext } from './context.ts'

/** A playbook that a verb of its own stands for: it is run like any other, and `drover playbooks` does not list it. */
export interface BuiltIn {
  /** As the journal names it. */
  readonly file: string
  readonly text: string
}

/** What `drover run` or a verb asks for, by name, path, or as it is built in. */
export const loadAsked = (
  asked: string | BuiltIn,
  { cwd, tasks, playbooksDir: shippedDir }: Pick<WholeContext, 'cwd' | 'tasks' | 'playbooksDir'>,
): Playbook =>
  typeof asked === 'string'
    ? loadPlaybook(asked, { shippedDir, cwd, tasks })
    : loadPlaybook(asked.file, { shippedDir, cwd, tasks, readFile: () => Buffer.from(asked.text) })
