// Compiles the stand-in agent on this machine. It is static, so one file runs on every host of the lab.
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { installMissing, NEEDS } from '../install.ts'
import { mustRun } from '../processes.ts'
import { labSources, recipeDigest, stateFolder } from '../state.ts'

const RELEASES = { old: 'RELEASE_OLD', new: 'RELEASE_NEW', 'exits-42': 'RELEASE_EXITS_42' } as const
export type AgentRelease = keyof typeof RELEASES

export const AGENT_RELEASES = Object.keys(RELEASES) as AgentRelease[]

const source = join(labSources, 'agent', 'agent.c')

/** The file of the compiled agent; compiled anew when the source has changed. */
export async function agentBinary(release: AgentRelease, options: { yes?: boolean } = {}): Promise<string> {
  const binary = join(stateFolder('agents'), `${release}-${recipeDigest([source])}`)
  if (existsSync(binary)) return binary
  await installMissing([NEEDS.agent], options.yes ?? false)
  const unfinished = `${binary}.${process.pid}`
  await mustRun(
    'cc',
    [
      '-std=gnu11',
      '-Os',
      '-s',
      '-static',
      '-Wall',
      '-Wextra',
      '-Werror',
      `-D${RELEASES[release]}`,
      '-o',
      unfinished,
      source,
    ],
    { timeoutMs: 60_000 },
  )
  renameSync(unfinished, binary) // whole or not at all: another process may be looking for it
  return binary
}
