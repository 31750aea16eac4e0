import { z } from 'zod'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import { parentOf } from '../facts/tree.ts'
import { fine } from './agent/finding.ts'
import { firstBootFacts, isBootstrapping } from './agent/first-boot.ts'
import { bootstrapUnit } from './agent/names.ts'
import { firstBootDirectory } from './agent/paths.ts'
import { isInstalled } from './agent/service.ts'
import { mountsFacts } from './reset/facts.ts'
import { linksLeft } from './reset/links-left.ts'
import { hostRefusal } from './reset/possible.ts'
import { mountedRefusal, readOnlyRefusal, removalOf } from './reset/removal.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({})
const trees = [firstBootDirectory]

/** Rule W8: never removed unless somebody asks for it. */
export const firstBootSecretsAbsent: Task<z.output<typeof params>> = {
  name: 'first-boot-secrets-absent',
  summary:
    'The files of the first boot, secrets among them, are gone from a host on which the agent is installed; a first boot that is at work or has failed keeps them.',
  params,
  example: `name: tidy-first-boot
description: Remove what the first boot needed and nobody needs any more
steps:
  - task: first-boot-secrets-absent
`,
  facts: (): Fact[] =>
    mergeFacts([...firstBootFacts(), { kind: 'mount', path: parentOf(firstBootDirectory) }, ...mountsFacts(trees)]),
  plan: (view): Planned => {
    const refusal = hostRefusal(view)
    if (refusal !== null) return blocked(refusal)
    if (view.node(firstBootDirectory).type === 'absent') return satisfied()
    if (isBootstrapping(view)) return satisfied([stillNeeded(`${bootstrapUnit} is at work`)])
    if (!isInstalled(view)) return satisfied([stillNeeded('no agent is installed yet')])
    const changes = removalOf(view, firstBootDirectory)
    const stuck = mountedRefusal(view, trees, trees) ?? readOnlyRefusal(view, changes)
    return stuck === null ? planned(changes, linksLeft(view, trees)) : blocked(stuck)
  },
}

const stillNeeded = (why: string) =>
  fine({ check: 'first-boot-secrets-kept', target: firstBootDirectory, message: `${why}, so its files were kept` })
