import { readFileSync } from 'node:fs'
import type { Vars } from '../../src/inventory/host.ts'
import { hostPlays } from '../../src/playbook/host-plays.ts'
import { loadPlaybook } from '../../src/playbook/load.ts'
import type { HostPlay } from '../../src/playbook/playbook.ts'
import type { Releases } from '../../src/release/release.ts'
import { tasks } from '../../src/tasks/registry.ts'
import { noProgram } from '../playbook/world.ts'
import { withToken } from '../tasks/config/valid.ts'
import { aHost } from '../tasks/deployed.ts'
import { digest } from '../tasks/switch/release.ts'
import { type BinaryName, binaries, hostRootSince } from './binaries.ts'

const releases: Releases = {
  fetch: async (wanted) => ({
    ...wanted,
    binaries: Object.fromEntries(
      Object.entries(wanted.sources).map(([architecture, { file = '', sha256 }]) => [
        architecture,
        { file, sha256, size: file.slice('/releases/'.length).length },
      ]),
    ),
  }),
}

const release = (name: BinaryName) => ({
  version: binaries[name].version,
  hostRootSince,
  amd64: { file: `/releases/${name}`, sha256: digest(name) },
})

const shippedDir = new URL('../../playbooks', import.meta.url).pathname

/** A shipped playbook on one host, with what it names fetched. */
const playOf = async (name: string, extraVars: Vars): Promise<HostPlay> => {
  const host = aHost()
  const readFile = (path: string): Uint8Array => readFileSync(path)
  const playbook = loadPlaybook(name, { shippedDir, cwd: '/', tasks, readFile })
  const [play] = hostPlays({
    playbook,
    inventory: { sources: [], hosts: [host], groups: [{ name: 'all', hosts: [host.name], children: [], vars: {} }] },
    hosts: [host],
    tasks,
    extraVars,
    cwd: '/',
    secrets: { env: {}, readFile, runProgram: noProgram },
  })
  const steps = await Promise.all(
    (play?.steps ?? []).map(async (step) => ({
      ...step,
      params: (await tasks.get(step.task)?.prepare?.(step.params as never, releases)) ?? step.params,
    })),
  )
  return { host, steps }
}

/** Every playbook of a host's life, by the words that a walk calls it with. */
export const playsOfALife = async (): Promise<ReadonlyMap<string, HostPlay>> => {
  const named: (readonly [words: string, name: string, vars: Vars])[] = [
    ...(['old', 'first', 'second'] as const).map(
      (name) => [`install ${name}`, 'install', { agent: release(name), config: withToken }] as const,
    ),
    [
      'install first through the link',
      'install',
      { agent: release('first'), config: withToken, use_operator_link: true },
    ],
    ...(['old', 'first', 'second', 'crashing'] as const).map(
      (name) => [`upgrade ${name}`, 'upgrade', { agent: release(name) }] as const,
    ),
    ['rollback', 'rollback', { host_root_since: hostRootSince }],
    ['migrate', 'migrate', { host_root_since: hostRootSince }],
    ['migrate as far as the link', 'migrate', { host_root_since: hostRootSince, stop_at: 'link' }],
    ['unlink', 'unlink', {}],
    ['reset', 'reset', {}],
    ['reset without the agent', 'reset', { agent_reset: false }],
    ['uninstall', 'uninstall', { yes_remove_everything: true }],
  ]
  return new Map(
    await Promise.all(named.map(async ([words, name, vars]) => [words, await playOf(name, vars)] as const)),
  )
}
