import { readFileSync } from 'node:fs'
import type { Host, Vars } from '../../src/inventory/host.ts'
import { hostPlays } from '../../src/playbook/host-plays.ts'
import { loadPlaybook } from '../../src/playbook/load.ts'
import type { HostPlay } from '../../src/playbook/playbook.ts'
import type { Releases } from '../../src/release/release.ts'
import { tasks } from '../../src/tasks/registry.ts'
import { aHost } from '../tasks/deployed.ts'
import { noProgram } from './world.ts'

/** A shipped playbook on one host, as it is before anything that it names is fetched. */
export const shippedPlay = (name: string, extraVars: Vars, host: Host = aHost()): HostPlay => {
  const shippedDir = new URL('../../playbooks', import.meta.url).pathname
  const readFile = (path: string): Uint8Array => readFileSync(path)
  const [play] = hostPlays({
    playbook: loadPlaybook(name, { shippedDir, cwd: '/', tasks, readFile }),
    inventory: { sources: [], hosts: [host], groups: [{ name: 'all', hosts: [host.name], children: [], vars: {} }] },
    hosts: [host],
    tasks,
    extraVars,
    cwd: '/',
    secrets: { env: {}, readFile, runProgram: noProgram },
  })
  if (play === undefined) throw new Error('no play')
  return play
}

/** The same with its releases fetched. */
export const preparedPlay = async (play: HostPlay, releases: Releases): Promise<HostPlay> => ({
  ...play,
  steps: await Promise.all(
    play.steps.map(async (step) => ({
      ...step,
      params: (await tasks.get(step.task)?.prepare?.(step.params as never, releases)) ?? step.params,
    })),
  ),
})
