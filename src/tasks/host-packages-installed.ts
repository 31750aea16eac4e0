import { z } from 'zod'
import type { ErrorDetails } from '../errors.ts'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { configFacts } from './agent/config.ts'
import { offline } from './agent/offline.ts'
import { isRoot } from './agent/visible.ts'
import { needsRoot } from './install/host-fit.ts'
import { missingPackages, packageFacts } from './preflight/installable.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({})

/** domain.md 9.4. What counts is the program: a host that has it by another package lacks nothing. */
export const hostPackagesInstalled: Task<z.output<typeof params>> = {
  name: 'host-packages-installed',
  summary: 'The programs that the agent needs of the host are there: systemd-nspawn, curl, nft and mountpoint.',
  params,
  example: `name: host-packages
description: What the agent needs of the host
steps:
  - task: host-packages-installed
`,
  facts: (): Fact[] => mergeFacts([...packageFacts(), ...configFacts()]),
  plan: (view, _given, host): Planned => {
    const missing = missingPackages(view)
    if (missing.length === 0) return satisfied()
    const list = missing.join(', ')
    if (view.os.family === 'acl') return blocked(ofImage(list))
    if (offline(view, host).offline) return blocked(isOffline(list))
    const manager = view.packageManager
    if (manager === null) return blocked(noManager(view, list))
    return isRoot(view) ? planned([{ kind: 'package', install: missing, manager }]) : blocked(needsRoot)
  },
}

const ofImage = (list: string): ErrorDetails => ({
  code: 'package-manager-missing',
  message: `The image of this host lacks ${list}, and nothing can be installed on it, whatever package tools it ships.`,
  remedy: `Provision the host from an image that holds ${list}.`,
})

/** W6: config.json decides where there is one, be it that an earlier step only now writes it. */
const isOffline = (list: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `The host is offline and lacks ${list}: nothing is downloaded onto it.`,
  remedy: `Install ${list} on the host by hand, or with the image. If it is not offline, correct bootstrap.offlineArtifacts in its config.json, or \`offline\` in the inventory.`,
})

const noManager = (view: HostView, list: string): ErrorDetails => ({
  code: 'package-manager-missing',
  message: `${list} cannot be installed: ${view.os.prettyName} has neither apt nor dnf.`,
  remedy: `Bring the programs of ${list} onto the host by hand, or leave it out with --limit.`,
})
