import {
  agentUnit,
  bootstrapUnit,
  machines,
  machinesTarget,
  recoveryUnit,
  workerUnit,
} from '../../src/tasks/agent/names.ts'
import {
  agentBinary,
  agentUnitFile,
  hostRoots,
  LEGACY,
  layoutMarkers,
  lifecycleHelper,
  machineBinary,
  ROOT,
  recoveryScript,
  recoveryUnitFile,
  unitDirectory,
} from '../../src/tasks/agent/paths.ts'
import { daemonState } from '../tasks/deployed.ts'
import { startUnit } from './agent.ts'
import type { AgentBinary } from './binaries.ts'
import { links } from './daemon.ts'
import type { LivingHost } from './host.ts'
import { hooksOfMachine, overrideFile, regenerateFile, unitsOf, writeFiles } from './written.ts'

/** The agent's own `start` (domain.md 2.4), as far as it leaves files, units and processes behind. */
export const joins = (host: LivingHost, binary: AgentBinary): void => {
  const { disk } = host
  const isLegacy = layoutMarkers(LEGACY).some((path) => disk.exists(path))
  if (binary.knowsRoot && isLegacy && !disk.exists(ROOT)) all(host, links(host))
  const root = isLegacy ? LEGACY : ROOT
  const worker = machineBinary('kube1')
  disk.directories(worker.slice(0, worker.lastIndexOf('/')))
  disk.write(worker, disk.text(`${root}/lib/aks-flex-node/aks-flex-node-current`) ?? '', 0o755)
  disk.directories(`${unitDirectory}/${workerUnit('kube1')}.d`)
  disk.directories('/etc/systemd/nspawn')
  disk.write('/etc/systemd/nspawn/kube1.nspawn', '[Exec]\n')
  all(host, writeFiles(host, hooksOfMachine('kube1', root)))
  disk.directories(`${unitDirectory}/${machinesTarget}.wants`)
  disk.link(
    `${unitDirectory}/${machinesTarget}.wants/${workerUnit('kube1')}`,
    '/usr/lib/systemd/system/systemd-nspawn@.service',
  )
  host.reload()
  startUnit(host, workerUnit('kube1'))
  for (const [path, literal] of Object.entries(daemonState('kube1')))
    if (typeof literal === 'object' && 'file' in literal) disk.write(path, literal.file, 0o600)
  all(host, writeFiles(host, unitsOf(root, binary)))
  disk.directories(`${unitDirectory}/multi-user.target.wants`)
  disk.link(`${unitDirectory}/multi-user.target.wants/${agentUnit}`, agentUnitFile)
  host.reload()
  startUnit(host, agentUnit)
  if (root === ROOT && disk.lstat(agentBinary(LEGACY)).type === 'file') disk.remove(agentBinary(LEGACY))
}

/** The agent's own `reset` (domain.md 8.1), in its order. It keeps the layout. */
export const resets = (host: LivingHost): void => {
  const { disk } = host
  const gone = (path: string, recurse = false): void => {
    if (!disk.exists(path)) return
    disk.remove(path, recurse)
    host.onStep(`the reset removed ${path}`)
  }
  const disabled = (name: string): void => {
    for (const target of ['multi-user.target', machinesTarget]) gone(`${unitDirectory}/${target}.wants/${name}`)
  }
  disabled(bootstrapUnit)
  gone(`${unitDirectory}/${bootstrapUnit}`)
  host.stop(agentUnit)
  disabled(agentUnit)
  for (const path of [agentUnitFile, recoveryUnitFile, recoveryScript(ROOT), recoveryScript(LEGACY)]) gone(path)
  host.reload()
  for (const machine of machines) {
    disabled(workerUnit(machine))
    host.stop(workerUnit(machine))
    gone(`/etc/systemd/nspawn/${machine}.nspawn`)
    gone(overrideFile(machine).replace('/override.conf', ''), true)
    gone(regenerateFile(machine))
    gone(`/var/lib/machines/${machine}`, true)
  }
  for (const root of hostRoots) gone(lifecycleHelper(root))
  host.reload()
  for (const path of ['/etc/aks-flex-node', '/var/log/aks-flex-node']) gone(path, true)
  host.units.delete(recoveryUnit)
}

const all = (host: LivingHost, steps: Generator<string>): void => {
  for (const step of steps) host.onStep(step)
}
