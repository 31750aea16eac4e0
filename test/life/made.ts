import type { Change } from '../../src/changes/change.ts'
import { contentBytes } from '../../src/changes/predict.ts'
import { unitDirectory } from '../../src/tasks/agent/paths.ts'
import { pass, restartUnit, startUnit } from './agent.ts'
import { arm } from './armed.ts'
import { nameOfDigest } from './binaries.ts'
import { joins, resets } from './commands.ts'
import { holds } from './conditions.ts'
import { Refused } from './disk.ts'
import type { LivingHost } from './host.ts'

/** A change is made as a host makes it: whole, or refused with the reason. */
export const make = (host: LivingHost, change: Change): void => {
  const { disk } = host
  switch (change.kind) {
    case 'write':
      disk.write(change.path, contentBytes(change.content).toString(), change.mode, host.clockS)
      break
    case 'link':
      disk.link(change.path, change.target)
      break
    case 'directory':
      disk.directory(change.path, change.mode)
      break
    case 'attributes': {
      const node = disk.lstat(change.path)
      if (node.type !== 'file' && node.type !== 'directory') throw new Refused(`${change.path} is a ${node.type}`)
      disk.put(change.path, { ...node, mode: change.mode })
      break
    }
    case 'rename':
      disk.rename(change.from, change.to)
      break
    case 'remove':
      disk.remove(change.path, change.recurse)
      break
    case 'upload':
      disk.write(change.path, nameOfDigest(change.artifact.sha256), change.mode)
      break
    case 'copy': {
      if (disk.digest(change.from) !== change.sha256) throw new Refused(`drifted: ${change.from}`)
      disk.write(change.path, disk.text(change.from) ?? '', change.mode)
      break
    }
    case 'systemctl':
      verb(host, change)
      break
    case 'await': {
      if (change.withinMs > 5000) pass(host)
      if (holds(host, change.condition) || change.orGoOn) break
      throw new Refused(`waited in vain: ${change.failure?.code ?? ''} ${JSON.stringify(change.condition)}`)
    }
    case 'hold':
      if (host.lock !== null) throw new Refused(`the lock is held by ${host.lock}`)
      host.lock = 'drover'
      break
    case 'release':
      host.lock = null
      break
    case 'arm':
      arm(host, change)
      break
    case 'run':
      command(host, change.argv)
      break
    default:
      throw new Error(`nobody makes a ${change.kind} here`)
  }
}

const verb = (host: LivingHost, change: Extract<Change, { kind: 'systemctl' }>): void => {
  if (change.verb === 'daemon-reload') {
    host.reload()
    return
  }
  const { unit } = change
  // systemd says yes as soon as the process is begun: only a unit that is not there at all is a failure.
  if (['start', 'restart', 'enable'].includes(change.verb) && host.load(unit) === null)
    throw new Refused(`${unit} does not exist`)
  const link = `${unitDirectory}/multi-user.target.wants/${unit}`
  switch (change.verb) {
    case 'start':
      startUnit(host, unit)
      break
    case 'restart':
      restartUnit(host, unit)
      break
    case 'stop':
      host.stop(unit)
      break
    case 'reset-failed':
      if (host.unit(unit).active === 'failed') host.unit(unit).active = 'inactive'
      break
    case 'enable':
      host.disk.directories(`${unitDirectory}/multi-user.target.wants`)
      host.disk.link(link, `${unitDirectory}/${unit}`)
      host.reload()
      break
    case 'disable':
      for (const name of host.disk.entries(unitDirectory).filter((entry) => entry.endsWith('.wants')))
        host.disk.remove(`${unitDirectory}/${name}/${unit}`)
      host.reload()
      break
  }
}

const command = (host: LivingHost, argv: readonly string[]): void => {
  const [path = '', what] = argv
  if (path === 'systemctl' && what === 'stop') {
    host.restartDue = false
    return
  }
  const binary = host.runs(path)
  if (binary === null) throw new Refused(`${path} cannot be run`)
  if (what === 'start') joins(host, binary)
  else if (what === 'reset') resets(host)
  else throw new Error(`nobody here knows ${argv.join(' ')}`)
}
