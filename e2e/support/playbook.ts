import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Lab } from '../lab/lab.ts'

/** Write a playbook into the lab's folder and return its path. */
export const writePlaybook = (lab: Lab, name: string, steps: readonly object[], more: object = {}): string => {
  const file = join(lab.folder, `${name}.yaml`)
  writeFileSync(file, stringify({ name, ...more, steps }))
  return file
}

/** A step that takes its time on the host and then leaves a mark. */
export const slow = (seconds: number, mark: string, more: object = {}): object => ({
  name: 'slow',
  task: 'command',
  with: { argv: ['sh', '-c', 'sleep "$1" && : >"$2"', 'slow', String(seconds), mark], creates: mark, ...more },
})

export const file = (name: string, path: string, content: string, more: object = {}): object => ({
  name,
  task: 'file-present',
  with: { path, content, ...more },
})
