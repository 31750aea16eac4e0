import {
  agentBinary,
  hostRootAgents,
  LEGACY,
  layoutEntry,
  libraryDirectory,
  lifecycleHelper,
  movingMark,
  ROOT,
  recoveryScript,
  stagingRoot,
} from '../../src/tasks/agent/paths.ts'
import type { LivingHost } from './host.ts'
import { writesHooks, writesUnits } from './written.ts'

/** The eight files that move (domain.md 1.1). */
const inLayout: readonly string[] = [
  ...(['blue', 'green', 'current', 'last-good'] as const).map((entry) => layoutEntry(LEGACY, entry)),
  recoveryScript(LEGACY),
  agentBinary(LEGACY),
  lifecycleHelper(LEGACY),
  `${LEGACY}/libexec/unbounded-localdns-network`,
]

/** domain.md 6.3, as the agent makes it. */
export function* firstPass(host: LivingHost): Generator<string> {
  const { disk } = host
  disk.remove(stagingRoot, true)
  yield 'removed an old copy'
  for (const directory of ['', '/bin', '/lib', '/lib/aks-flex-node', '/libexec']) {
    disk.directory(`${stagingRoot}${directory}`, 0o755)
    yield 'made a directory of the copy'
  }
  for (const path of inLayout) {
    const node = disk.lstat(path)
    if (node.type === 'absent') continue
    const to = path.replace(LEGACY, stagingRoot)
    if (node.type === 'symlink') disk.link(to, node.target.replace(LEGACY, ROOT))
    else disk.put(to, node)
    yield `copied ${path}`
  }
  disk.write(`${stagingRoot}/.moving`, '', 0o644, host.clockS)
  yield 'marked the copy'
  disk.remove(ROOT)
  yield 'removed the link'
  disk.rename(stagingRoot, ROOT)
  yield 'swapped'
  yield* afterTheSwap(host)
}

function* afterTheSwap(host: LivingHost): Generator<string> {
  if (host.runs(layoutEntry(ROOT, 'current')) === null) return yield* undo(host)
  yield* writesUnits(host, ROOT)
  yield* writesHooks(host, ROOT)
  host.restartDue = !host.weather.restartLost
  yield 'queued its restart'
}

function* undo(host: LivingHost): Generator<string> {
  const { disk } = host
  disk.rename(ROOT, stagingRoot)
  yield 'set the copy aside'
  disk.link(ROOT, LEGACY)
  yield 'linked again'
  disk.remove(stagingRoot, true)
  yield 'removed the copy'
  yield* writesUnits(host, LEGACY)
}

/** Found with `.moving` in its root: which pass it is depends on where it runs from. */
export function* goOn(host: LivingHost): Generator<string> {
  const { disk } = host
  if (!host.agent.exe.startsWith(`${disk.real(ROOT)}/`)) {
    if (host.lock === null) yield* afterTheSwap(host)
    return
  }
  if (host.weather.stuck || host.lock !== null) return
  yield* writesUnits(host, ROOT)
  yield* writesHooks(host, ROOT)
  for (const path of inLayout) {
    disk.remove(path)
    yield `removed ${path}`
  }
  if (disk.entries(libraryDirectory(LEGACY)).length === 0) disk.remove(libraryDirectory(LEGACY))
  yield 'removed the old directory'
  disk.remove(hostRootAgents)
  yield 'removed host-root-agents'
  disk.remove(movingMark)
  yield 'finished the move'
}
