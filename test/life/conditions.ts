import type { Condition, Expectation } from '../../src/changes/change.ts'
import type { LivingHost } from './host.ts'

/** What the host finds when a change has it wait for something. */
export const holds = (host: LivingHost, condition: Condition): boolean => {
  const { disk } = host
  switch (condition.is) {
    case 'active':
      return host.unit(condition.unit).active === 'active'
    case 'untouched':
      return String(host.unit(condition.unit).pid) === condition.mainPid
    case 'running':
      return host.worker.active === 'active'
    case 'startable':
    case 'answering':
      return true
    case 'running-from':
      return host.unit(condition.unit).active === 'active' && host.unit(condition.unit).exe === condition.exe
    case 'gone':
      return !disk.exists(condition.path)
    case 'succeeding': {
      const [program = '', ...args] = condition.command
      if (program === 'test') return tested(host, args)
      if (args[0] === 'version') {
        const binary = host.runs(program)
        return binary !== null && (condition.line === undefined || condition.line === `Version: ${binary.version}`)
      }
      throw new Error(`nobody here knows ${condition.command.join(' ')}`)
    }
  }
}

const tested = ({ disk }: LivingHost, args: readonly string[]): boolean => {
  const [first = '', second = '', third = ''] = args
  if (first === '!') return !tested({ disk } as LivingHost, [second, third])
  const node = disk.stat(second)
  if (first === '-e') return node.type !== 'absent'
  if (first === '-s') return node.type === 'file' && node.size > 0
  throw new Error(`nobody here knows test ${args.join(' ')}`)
}

/** Null: it is as the plan saw it. */
export const drift = (host: LivingHost, expectation: Expectation): string | null => {
  const { disk } = host
  const seen = JSON.stringify(expectation)
  if ('unit' in expectation) {
    if (expectation.property !== 'ActiveState') return null
    return host.unit(expectation.unit).active === expectation.value ? null : seen
  }
  if ('directory' in expectation)
    return disk.entries(expectation.directory).join() === [...expectation.holds].join() ? null : seen
  const node = disk.lstat(expectation.path)
  if (node.type !== expectation.is) return seen
  if (expectation.is === 'symlink') return node.type === 'symlink' && node.target === expectation.target ? null : seen
  if (expectation.is === 'file' && expectation.sha256 !== undefined)
    return node.type === 'file' && node.sha256 === expectation.sha256 ? null : seen
  return null
}
