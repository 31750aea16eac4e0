import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { LabHost } from '../lab/host.ts'
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

/** A step that waits on the host until the story lets it through, however slow the machine is, and then leaves the mark /run/NAME. */
export const gated = (name: string, more: object = {}): object => ({
  name: 'slow',
  task: 'command',
  with: {
    argv: ['sh', '-c', 'until [ -e "$1.go" ]; do sleep 0.1; done; : >"$1"', 'slow', `/run/${name}`],
    creates: `/run/${name}`,
    timeout_s: 150,
    ...more,
  },
})
export const letThrough = (host: LabHost, name: string): Promise<string> => host.must(': >"/run/$1.go"', [name])

export const file = (name: string, path: string, content: string, more: object = {}): object => ({
  name,
  task: 'file-present',
  with: { path, content, ...more },
})
