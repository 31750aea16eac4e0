import type { Vars } from '../../src/inventory/host.ts'
import type { HostPlay } from '../../src/playbook/playbook.ts'
import type { Releases } from '../../src/release/release.ts'
import { preparedPlay, shippedPlay } from '../playbook/shipped.ts'
import { withToken } from '../tasks/config/valid.ts'
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
    await Promise.all(
      named.map(async ([words, name, vars]) => [words, await preparedPlay(shippedPlay(name, vars), releases)] as const),
    ),
  )
}
