import { agentUnit, machines, recoveryUnit, workerUnit } from '../../src/tasks/agent/names.ts'
import {
  agentUnitFile,
  type HostRoot,
  layoutEntry,
  lifecycleHelper,
  recoveryScript,
  recoveryUnitFile,
  unitDirectory,
} from '../../src/tasks/agent/paths.ts'
import { type AgentBinary, binaryOf } from './binaries.ts'
import type { LivingHost } from './host.ts'

interface Written {
  readonly path: string
  readonly text: string
  readonly mode: number
}

/** What a starting agent writes by itself, in its order: script, recovery unit, agent unit. */
export const unitsOf = (root: HostRoot, { knowsRoot }: AgentBinary): Written[] => [
  { path: recoveryScript(root), text: `#!/bin/sh\nexec ${layoutEntry(root, 'last-good')}\n`, mode: 0o750 },
  { path: recoveryUnitFile, text: `[Service]\nType=oneshot\nExecStart=${recoveryScript(root)}\n`, mode: 0o644 },
  {
    path: agentUnitFile,
    text: `[Unit]\nWants=network-online.target${knowsRoot ? ' machines.target' : ''}\nOnFailure=${recoveryUnit}\n[Service]\nExecStart=${layoutEntry(root, 'current')} agent --config /etc/aks-flex-node/config.json\n[Install]\nWantedBy=multi-user.target\n`,
    mode: 0o644,
  },
]

export const overrideFile = (machine: 'kube1' | 'kube2'): string =>
  `${unitDirectory}/${workerUnit(machine)}.d/override.conf`
export const regenerateFile = (machine: 'kube1' | 'kube2'): string =>
  `${unitDirectory}/unbounded-agent-regenerate-config@${machine}.service`

/** The hooks of each worker that has some. */
const hooksOf = ({ disk }: LivingHost, root: HostRoot): Written[] =>
  machines.filter((machine) => disk.exists(overrideFile(machine))).flatMap((machine) => hooksOfMachine(machine, root))

export const hooksOfMachine = (machine: 'kube1' | 'kube2', root: HostRoot): Written[] => [
  {
    path: overrideFile(machine),
    text: `[Service]\nExecStartPost=${lifecycleHelper(root)} nspawn-lifecycle post-start ${machine}\n# an operator's line\n`,
    mode: 0o644,
  },
  {
    path: regenerateFile(machine),
    text: `[Service]\nType=oneshot\nExecStart=${lifecycleHelper(root)} nspawn-lifecycle pre-start ${machine}\n`,
    mode: 0o644,
  },
]

export function* writeFiles({ disk }: LivingHost, files: readonly Written[]): Generator<string> {
  for (const { path, text, mode } of files) {
    if (disk.text(path) === text) continue
    disk.write(path, text, mode)
    yield `wrote ${path}`
  }
}

/** The agent gives up: its unit fails. */
export class GivesUp extends Error {}

/** The running agent writes its own units, and has them loaded. */
export function* writesUnits(host: LivingHost, root: HostRoot): Generator<string> {
  const binary = binaryOf(host.disk.digest(host.agent.exe))
  if (binary === null) throw new GivesUp('its binary is gone')
  yield* writeFiles(host, unitsOf(root, binary))
  host.reload()
  yield `reloaded for ${agentUnit}`
}

/** The helper first, from the running binary: the hooks name it (M6). */
export function* writesHooks(host: LivingHost, root: HostRoot): Generator<string> {
  const { disk } = host
  const own = disk.text(host.agent.exe)
  if (own === null) throw new GivesUp('its binary is gone')
  disk.write(lifecycleHelper(root), own, 0o755)
  yield 'refreshed the lifecycle helper'
  yield* writeFiles(host, hooksOf(host, root))
  host.reload()
}
