import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import { commandKey, type Fact } from '../../facts/fact.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit, machinesTarget } from '../agent/names.ts'
import { agentUnitFile, dropInFile, persistentUnitPath, unitDirectory, wantsDirectory } from '../agent/paths.ts'
import { agentWantsTarget } from '../agent/target.ts'
import { machinesTargetDropIn } from '../units/machines-target-drop-in.ts'

const reload: Change = { kind: 'systemctl', verb: 'daemon-reload' }

/**
 * The drop-in, where neither what systemd has loaded nor what it would load next has the dependency (W1).
 * Both halves count: loaded without a file behind it is gone at the next boot, and a file that was never loaded
 * lacks only the reload.
 */
export const wiring = (view: HostView): Change[] | ErrorDetails => {
  const isLoaded = agentWantsTarget(view)
  if (isLoaded && (hasDropIn(view) || isOnDisk(view))) return []
  // What else the reload will load is not known.
  if (hasDropIn(view)) return [{ ...reload, spoils: [`unit:${agentUnit}`] }]
  const there = view.node(dropInFile)
  if (there.type !== 'absent' && there.type !== 'file') return inTheWay(dropInFile, there.type)
  const directory = parentOf(dropInFile)
  const above = view.target(directory)
  if (above.type !== 'absent' && above.type !== 'directory') return inTheWay(directory, above.type)
  if (above.type === 'absent' && view.node(directory).type === 'symlink')
    return inTheWay(directory, 'link that leads nowhere')
  if (view.mount(dropInFile).readOnly) return readOnly
  return [
    ...(above.type === 'absent'
      ? [{ kind: 'directory', path: directory, mode: 0o755, owner: 'root:root' } as const]
      : []),
    {
      kind: 'write',
      path: dropInFile,
      content: machinesTargetDropIn.content,
      mode: 0o644,
      owner: 'root:root',
      model: machinesTargetDropIn.model,
    },
    reload,
  ]
}

const hasDropIn = (view: HostView): boolean => view.text(dropInFile) === machinesTargetDropIn.content

/** Whether any file of the unit names the target outside a comment: the agent's own unit, or an operator's drop-in. */
const isOnDisk = (view: HostView): boolean =>
  view.command(targetOnDisk).code === 0 || view.node(wantsLink).type === 'symlink'

const wantsLink = `${wantsDirectory(unitDirectory, agentUnit)}/${machinesTarget}`

const targetOnDisk = [
  'grep',
  '-rqsE',
  '--include=*.conf',
  '--include=*.service',
  // With the directive, or on a line of names that goes on from one above.
  '^[[:space:]]*((Wants|Requires|BindsTo)[[:space:]]*=)?([^=#;]*[[:space:]])?machines\\.target([[:space:]\\\\]|$)',
  agentUnitFile,
  // What lies in /run is gone at the next boot.
  ...persistentUnitPath.map((place) => `${place}/${agentUnit}.d`),
]

/** What of it a start of the agent, which writes its own unit, leaves unknown. */
export const writtenWiring = commandKey(targetOnDisk)

/** What `wiring` reads beside the deployment. */
export const wiringFacts = (): Fact[] => [
  { kind: 'command', argv: targetOnDisk },
  { kind: 'path', path: wantsLink },
  { kind: 'mount', path: dropInFile },
]

const inTheWay = (path: string, type: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${path} is a ${type}, where drover keeps a ${path === dropInFile ? 'drop-in file' : 'directory'}.`,
  remedy: 'Look at who put it there. drover replaces nothing that is not its own.',
})

const readOnly: ErrorDetails = {
  code: 'precondition-unmet',
  message: `${parentOf(dropInFile)} is on a read-only file system.`,
  remedy:
    'Units live in /etc/systemd/system on every supported host; make /etc writable, or provision the drop-in with the image.',
}
