import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The process that cleans up when drover no longer can (keeper.sh). */
export interface Keeper {
  add(pid: number): void
  drop(pid: number): void
  /** Over when the folder is gone. */
  close(): Promise<void>
}

export const startKeeper = (folder: string): Keeper => {
  const script = fileURLToPath(new URL('./keeper.sh', import.meta.url))
  // A session of its own: Ctrl-C in the terminal is for drover, which may have reasons to go on for a while.
  const child = spawn('/bin/sh', [script, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} })
  child.unref()
  const { stdin } = child
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
  child.on('error', () => undefined)
  stdin.on('error', () => undefined)
  const ended = once(child, 'exit').catch(() => undefined)
  return {
    add: (pid) => void stdin.write(`add ${pid}\n`),
    drop: (pid) => void stdin.write(`drop ${pid}\n`),
    close: async () => {
      stdin.end()
      child.ref()
      await ended
    },
  }
}
