// A host of v0.2.0 on its way from /usr/local to /opt/unbounded/agent: LEGACY, LINKED, MOVED.
import { WORKER_UNIT } from '../lab/host.ts'
import { writeInventory } from '../lab/inventory.ts'
import { openLab } from '../lab/lab.ts'
import { releaseFile } from '../support/releases.ts'
import { capture, expect, show } from './show.ts'

const name = 'rhel9-b'

/** Shorter than the waits that a real fleet should have. */
const waits = (...given: readonly string[]): string[] => given.flatMap((wait) => ['-e', wait])

/** It boots a host of its own in a lab of its own, whose inventory it returns. */
export const move = async (): Promise<string> => {
  const lab = await openLab('demo-move', { yes: true })
  const host = await lab.boot({ name, image: 'rhel9-like', agent: 'old', worker: 'sleep' })
  const inventory = writeInventory(lab)
  const here = ['-i', inventory]
  const isIn = (state: string, why: string): void => {
    show(why, ['status', ...here])
    const found = capture(['status', ...here, '--where', `root=${state}`, '-o', 'names'])
    expect(found.trim() === name, `${name} is ${state}`)
  }
  const workerPid = async (): Promise<string> => (await host.unit(WORKER_UNIT)).MainPID

  isIn('LEGACY', 'Another host, with an agent that knows only /usr/local')
  const migrate = ['run', 'migrate', ...here, ...waits('stable_s=3', 'worker_stable_s=1', 'second_pass_within_s=3')]
  expect(show('The half from which it can go back: a link', [...migrate, '--stop-at', 'link']) === 0, 'it is linked')
  isIn('LINKED', 'The agent runs on as before, and waits for releases that know the new root')
  // Two, so that the one to go back to knows the root as well.
  for (const version of ['v0.3.0', 'v0.4.0']) {
    const release = await releaseFile(lab, { version })
    const upgrade = ['run', 'upgrade', ...here, '-e', `@${release}`, ...waits('stable_s=3', 'worker_stable_s=1')]
    expect(show(`Upgrade it to ${version}`, upgrade) === 0, `the upgrade to ${version} succeeds`)
  }
  const worker = await workerPid()
  show('Now it can move. What would be done? A dry run, with differences', [...migrate, '--check', '--diff'])
  isIn('LINKED', 'Nothing was')
  expect(show('Move it', [...migrate, '--reason', 'demo']) === 0, 'the move succeeds')
  isIn('MOVED', 'It has moved')
  expect(capture(['status', ...here, '--where', 'verdict=healthy', '-o', 'names']).trim() === name, 'it is healthy')
  expect((await workerPid()) === worker, 'the worker ran on meanwhile')
  expect(show('Again: there is nothing left to do', [...migrate, '--check', '--detailed-exitcode']) === 0, 'it stays')
  return inventory
}
