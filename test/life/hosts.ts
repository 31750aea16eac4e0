import { agentUnit, machinesTarget, workerUnit } from '../../src/tasks/agent/names.ts'
import {
  agentBinary,
  agentUnitFile,
  hostRootAgents,
  LEGACY,
  layoutEntry,
  libraryDirectory,
  lifecycleHelper,
  machineBinary,
  ROOT,
  unitDirectory,
} from '../../src/tasks/agent/paths.ts'
import { withToken } from '../tasks/config/valid.ts'
import { daemonState } from '../tasks/deployed.ts'
import { pass, restartUnit, startUnit } from './agent.ts'
import { binaries } from './binaries.ts'
import { LivingHost } from './host.ts'
import { hooksOfMachine, unitsOf, writeFiles } from './written.ts'

const usual = [
  '/etc/sysctl.d',
  unitDirectory,
  '/sys/fs/cgroup',
  '/opt',
  '/run',
  '/var/lib',
  '/var/log',
  '/usr/lib/systemd/system',
  '/etc/systemd/nspawn',
]

const bare = (readOnly: readonly string[] = []): LivingHost => {
  const host = new LivingHost()
  for (const path of [...usual, `${LEGACY}/bin`, `${LEGACY}/lib`]) host.disk.directories(path)
  for (const name of [machinesTarget, 'systemd-nspawn@.service'])
    host.disk.write(`/usr/lib/systemd/system/${name}`, '[Unit]\n')
  return readOnly.length === 0 ? host : frozen(host, readOnly)
}

const frozen = (host: LivingHost, readOnly: readonly string[]): LivingHost => {
  const again = new LivingHost(readOnly)
  again.disk.tree = host.disk.tree
  return again
}

/** One that an older release joined to its cluster; `linked`: a newer one runs there, and drover or the agent linked it. */
const joined = (name: 'old' | 'plain' | 'first', linked = false): LivingHost => {
  const host = bare()
  const { disk } = host
  if (name === 'plain') disk.write(agentBinary(LEGACY), 'plain', 0o755)
  else {
    disk.directory(libraryDirectory(LEGACY), 0o750)
    disk.write(layoutEntry(LEGACY, 'blue'), name, 0o755)
    disk.link(layoutEntry(LEGACY, 'current'), layoutEntry(LEGACY, 'blue'))
    disk.link(layoutEntry(LEGACY, 'last-good'), layoutEntry(LEGACY, 'blue'))
    disk.link(agentBinary(LEGACY), layoutEntry(LEGACY, 'current'))
    disk.write(lifecycleHelper(LEGACY), name, 0o755)
  }
  disk.directories(`${unitDirectory}/${workerUnit('kube1')}.d`)
  disk.directories(`${unitDirectory}/${machinesTarget}.wants`)
  disk.directories(`${unitDirectory}/multi-user.target.wants`)
  disk.directories(machineBinary('kube1').replace('/aks-flex-node', ''))
  disk.directories('/etc/aks-flex-node')
  disk.write(machineBinary('kube1'), name, 0o755)
  disk.write('/etc/aks-flex-node/config.json', JSON.stringify(withToken), 0o600)
  for (const [path, literal] of Object.entries(daemonState('kube1')))
    if (typeof literal === 'object' && 'file' in literal) disk.write(path, literal.file, 0o600)
  const files = [...unitsOf(LEGACY, binaries[name]), ...hooksOfMachine('kube1', LEGACY)]
  if (name === 'plain')
    disk.write(
      agentUnitFile,
      `[Service]\nExecStart=${agentBinary(LEGACY)} agent --config /etc/aks-flex-node/config.json\n`,
    )
  else for (const _ of writeFiles(host, files));
  disk.link(`${unitDirectory}/multi-user.target.wants/${agentUnit}`, agentUnitFile)
  disk.link(
    `${unitDirectory}/${machinesTarget}.wants/${workerUnit('kube1')}`,
    '/usr/lib/systemd/system/systemd-nspawn@.service',
  )
  if (linked) {
    disk.directories('/opt/unbounded')
    disk.link(ROOT, LEGACY)
    // Its first start, after this one, is the one that moves.
    host.weather.noexec = true
  }
  startUnit(host, machinesTarget)
  startUnit(host, agentUnit)
  host.weather.noexec = false
  return host
}

/** Where a life can begin. */
export const firstHosts = {
  bare: () => bare(),
  'read-only /usr': () => bare(['/usr']),
  'of v0.2.0': () => joined('old'),
  'of v0.1.0': () => joined('plain'),
  linked: () => joined('first', true),
  'linked, never started since': () => {
    const host = joined('first', true)
    host.disk.remove(hostRootAgents)
    return host
  },
  moved: () => {
    const host = joined('first', true)
    restartUnit(host, agentUnit)
    pass(host)
    return host
  },
  'with the link of an operator': () => {
    const host = bare()
    host.disk.directories('/srv/agent')
    host.disk.directories('/opt/unbounded')
    host.disk.link(ROOT, '/srv/agent')
    return host
  },
  'with two installations': () => {
    const host = joined('first', true)
    host.disk.remove(ROOT)
    host.disk.directories(libraryDirectory(ROOT))
    host.disk.write(layoutEntry(ROOT, 'blue'), 'second', 0o755)
    host.disk.link(layoutEntry(ROOT, 'current'), layoutEntry(ROOT, 'blue'))
    return host
  },
  'with a file in the way': () => {
    const host = joined('old')
    host.disk.directories('/opt/unbounded')
    host.disk.write(ROOT, 'of somebody')
    return host
  },
} as const
export type FirstHost = keyof typeof firstHosts
