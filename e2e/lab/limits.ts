// A limit of this machine that the lab reaches. All hosts of the lab share it, since they share the kernel.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stateDir, stateFolder } from './state.ts'

/**
 * A host takes about seven inotify instances and the kernel's default is 128, for all of them together. From some fifteen hosts on, units
 * fail at boot with "Too many open files", now this one and now that.
 */
const FILE = '/proc/sys/fs/inotify/max_user_instances'
const WANTED = 8192

export function raiseInotifyLimit(): void {
  const found = Number(readFileSync(FILE, 'utf8'))
  if (found >= WANTED) return
  try {
    writeFileSync(FILE, String(WANTED))
  } catch {
    process.stderr.write(
      `lab: ${FILE} is ${found} and cannot be raised: more than some fifteen hosts at once will not boot whole\n`,
    )
    return
  }
  stateFolder()
  writeFileSync(recordFile(), String(found))
  process.stderr.write(`lab: raised ${FILE} from ${found} to ${WANTED}, until \`npm run lab -- down\`\n`)
}

/** Put back what was there before, if the lab changed it. */
export function restoreInotifyLimit(): void {
  if (!existsSync(recordFile())) return
  const before = readFileSync(recordFile(), 'utf8')
  if (Number(readFileSync(FILE, 'utf8')) === WANTED) writeFileSync(FILE, before)
  rmSync(recordFile())
}

function recordFile(): string {
  return join(stateDir, 'inotify-instances')
}
