// Runs of reset, uninstall and install as the stories about them make them.
import { expect } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type DroverEnd, drover, execsOf } from './drover.ts'
import { agentArgs, releaseVar } from './releases.ts'
import { expectCode } from './upgrade.ts'

type Lab = Parameters<typeof drover>[0]

/** Non-interactive, as a program would run it. */
export const reset = (lab: Lab, host: LabHost, ...more: readonly string[]): Promise<DroverEnd> =>
  drover(lab, ['run', 'reset', '-l', host.name, '-y', ...more])
export const uninstall = (lab: Lab, host: LabHost, ...more: readonly string[]): Promise<DroverEnd> =>
  drover(lab, ['run', 'uninstall', '-l', host.name, '-y', '--yes-remove-everything', ...more])

/** As in the story of install: no cluster answers, and a container is no host with 8 GiB. */
const installs = [
  ...['run', 'install', '-e', 'stable_s=3', '-e', 'within_s=8', '-e', 'force_ssh_install=true'],
  ...['--ignore-preflight-errors', 'api-server-reachable,disk-space,localdns-conntrack'],
  '-e',
  JSON.stringify({
    join_token: { secret: { env: 'JOIN_TOKEN' } },
    config: {
      azure: {
        targetCluster: {
          resourceId:
            '/subscriptions/44654aed-2753-4b88-9142-af7132933b6b/resourceGroups/lab/providers/Microsoft.ContainerService/managedClusters/lab',
        },
        bootstrapToken: { token: '${join_token}' },
      },
      node: { kubelet: { clusterFQDN: '127.0.0.1', caCertData: 'TEFC' } },
    },
  }),
]
const joins = { env: { JOIN_TOKEN: 'abcdef.0123456789abcdef' } }

export const install = async (lab: Lab, names: string, version: string): Promise<DroverEnd> =>
  drover(lab, [...installs, '-l', names, ...agentArgs(await releaseVar(lab, { version }))], joins)

/** Findings too that are no warnings. */
export const said = (run: DroverEnd): string => JSON.stringify(run.report)

/** Nothing is left to do, which costs one command to find out. */
export const isUnchanged = (run: DroverEnd, host: LabHost): void => {
  expectCode(run, 0)
  expect(run.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
  expect(execsOf(run, host.name)).toEqual(['inspect'])
}
