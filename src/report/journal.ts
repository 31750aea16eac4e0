import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { EventSink } from '../runner/events.ts'
import { jsonLine } from './json-text.ts'

export interface Journal {
  readonly take: EventSink
  /** Resolves when all that was taken is on the disk. */
  close(): Promise<void>
}

const sync = promisify(fdatasync)

/**
 * Each event is written before `take` returns, so a killed drover loses none; the flush to the disk follows within
 * the tick, off the main thread. After the first failure nothing more is written: the file stays a true beginning
 * of the run, which is what `resume` may build on. The failure is reported once and never thrown.
 */
export const openJournal = (file: string, onError: (error: Error) => void): Journal => {
  let failed = false
  let unflushed = false
  let flushing = Promise.resolve()
  const fail = (thrown: unknown): undefined => {
    if (failed) return
    failed = true
    onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
  }
  const descriptor = attempt(() => openWhole(file), fail)
  if (descriptor === undefined) return { take: () => {}, close: async () => {} }

  const flush = async (): Promise<void> => {
    await setImmediate()
    unflushed = false
    await sync(descriptor).catch(fail)
  }
  return {
    take: (event) => {
      if (failed) return
      attempt(() => writeWhole(descriptor, Buffer.from(jsonLine(event))), fail)
      if (unflushed) return
      unflushed = true
      flushing = flushing.then(flush)
    },
    close: async () => {
      await flushing
      attempt(() => closeSync(descriptor), fail)
      failed = true
    },
  }
}

const attempt = <T>(action: () => T, fail: (thrown: unknown) => undefined): T | undefined => {
  try {
    return action()
  } catch (thrown) {
    return fail(thrown)
  }
}

// A journal that is continued may end in half a line; what is appended must not become its other half.
const openWhole = (file: string): number => {
  const descriptor = openSync(file, 'a+', 0o600)
  const { size } = fstatSync(descriptor)
  const whole = wholeLines(descriptor, size)
  if (whole < size) ftruncateSync(descriptor, whole)
  return descriptor
}

const wholeLines = (descriptor: number, size: number): number => {
  const chunk = Buffer.alloc(65_536)
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length)
    const length = readSync(descriptor, chunk, 0, end - start, start)
    const newline = chunk.subarray(0, length).lastIndexOf('\n')
    if (newline >= 0) return start + newline + 1
    end = start
  }
  return 0
}

const writeWhole = (descriptor: number, bytes: Buffer): void => {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
}
