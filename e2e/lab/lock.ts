// One process at a time starts the engine or builds images. Test files run in parallel processes, and all of them ask for both.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processStart } from './processes.ts'
import { stateFolder } from './state.ts'

/** Run `work` while holding the lock NAME. Waits for a living holder, at most `waitMs`; takes over from a dead one. */
export async function withLock<T>(name: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const folder = join(stateFolder(), `lock-${name}`)
  const deadline = Date.now() + waitMs
  while (!tryTake(folder)) {
    if (Date.now() > deadline)
      throw new Error(
        `another process has held the lab's ${name} lock for ${waitMs / 1000} s; if none is at work, remove ${folder}`,
      )
    await sleep(200)
  }
  try {
    return await work()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function tryTake(folder: string): boolean {
  try {
    mkdirSync(folder) // fails if it exists: this is the lock itself
  } catch {
    if (holderIsDead(folder)) rmSync(folder, { recursive: true, force: true })
    return false
  }
  writeFileSync(join(folder, 'holder'), `${process.pid} ${processStart(process.pid)}`)
  return true
}

/** Dead means: a holder is named and no process of that id started then. A lock without a name is just being taken. */
function holderIsDead(folder: string): boolean {
  try {
    const [pid, start] = readFileSync(join(folder, 'holder'), 'utf8').split(' ')
    return processStart(Number(pid)) !== start
  } catch {
    return false
  }
}
