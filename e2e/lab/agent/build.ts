// Compiles the stand-in agent on this machine. It is static, so one file runs on every host of the lab.
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { installMissing, NEEDS } from '../install.ts'
import { mustRun } from '../processes.ts'
import { labSources, recipeDigest, stateFolder } from '../state.ts'

/** How a release behaves: what `agent` and `version` do. */
const BEHAVIOURS = {
  healthy: 'HEALTHY',
  /** As agent, at once. */
  'exits-42': 'EXITS_42',
  /** As agent, ten seconds after it was healthy. */
  dies: 'DIES',
  /** As agent: it looks healthy to systemd, and is never ready. */
  hangs: 'HANGS',
  'hangs-in-version': 'HANGS_IN_VERSION',
} as const
type Behaviour = keyof typeof BEHAVIOURS

const RESETS = {
  works: 'RESET_WORKS',
  /** Half way: the units are gone, all else is there. */
  fails: 'RESET_FAILS',
  /** It leaves the helper and the recovery script under the host root, as one that raced a move does (O-4). */
  'forgets-roots': 'RESET_FORGETS_ROOTS',
} as const

const PREFLIGHTS = { ok: 'PREFLIGHT_OK', fails: 'PREFLIGHT_FAILS', silent: 'PREFLIGHT_SILENT' } as const

export interface AgentBuild {
  version: string
  /** Default: healthy. */
  behaviour?: Behaviour
  /** Which layouts it knows: the host root (default), the slots under /usr/local only, or just the plain binary. */
  knows?: 'host-root' | 'slots' | 'plain'
  /** How its own preflight ends: `silent` is exit 1 without a report. */
  preflight?: keyof typeof PREFLIGHTS
  /** It moves its files to the host root as soon as both slots know that. Default: it only says that it would. */
  moves?: boolean
  /** How its reset ends. Default: it works. */
  reset?: keyof typeof RESETS
}

/** The releases that hosts are provisioned with. */
const RELEASES = {
  plain: { version: 'v0.1.4', knows: 'plain' },
  old: { version: 'v0.2.0', knows: 'slots' },
  new: { version: 'v0.3.0' },
  'exits-42': { version: 'v0.3.1', behaviour: 'exits-42' },
} as const satisfies Record<string, AgentBuild>
export type AgentRelease = keyof typeof RELEASES

export const AGENT_RELEASES = Object.keys(RELEASES) as AgentRelease[]

const folder = join(labSources, 'agent')
const sources = readdirSync(folder)
  .filter((name) => /\.[ch]$/.test(name))
  .sort()
  .map((name) => join(folder, name))
const programs = sources.filter((file) => file.endsWith('.c'))
let builds = 0

/** The file of the compiled agent; compiled anew when a source has changed. */
export const agentBinary = (agent: AgentRelease | AgentBuild, options: { yes?: boolean } = {}): Promise<string> =>
  buildAgent(typeof agent === 'string' ? RELEASES[agent] : agent, options)

export async function buildAgent(build: AgentBuild, options: { yes?: boolean } = {}): Promise<string> {
  const macros = macrosOf(build)
  const binary = join(stateFolder('agents'), `${build.version}-${recipeDigest(sources, macros)}`)
  if (existsSync(binary)) return binary
  await installMissing([NEEDS.agent], options.yes ?? false)
  builds += 1
  const unfinished = `${binary}.${process.pid}.${builds}`
  await mustRun(
    'cc',
    ['-std=gnu11', '-Os', '-s', '-static', '-Wall', '-Wextra', '-Werror', ...macros, '-o', unfinished, ...programs],
    { timeoutMs: 60_000 },
  )
  renameSync(unfinished, binary) // whole or not at all: another process may be looking for it
  return binary
}

const macrosOf = (build: AgentBuild): string[] => [
  `-DVERSION="${build.version}"`,
  `-DBEHAVIOUR=${BEHAVIOURS[build.behaviour ?? 'healthy']}`,
  `-DKNOWS_HOST_ROOT=${(build.knows ?? 'host-root') === 'host-root' ? 1 : 0}`,
  `-DKNOWS_SLOTS=${build.knows === 'plain' ? 0 : 1}`,
  `-DPREFLIGHT=${PREFLIGHTS[build.preflight ?? 'ok']}`,
  `-DMOVES=${build.moves ? 1 : 0}`,
  `-DRESET=${RESETS[build.reset ?? 'works']}`,
]
