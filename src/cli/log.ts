import { openSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import pino, { type Logger, type StreamEntry } from 'pino'
import { DroverError } from '../errors.ts'
import { printable } from '../printable.ts'
import type { CliContext } from './context.ts'

export type { Logger } from 'pino'

export interface LogOptions {
  readonly verbose: number
  readonly logFile?: string
}

const levels = ['warn', 'info', 'debug'] as const

/**
 * Drover's talk about itself; never a result. Lines for people on standard error, as many as -v asks for; with
 * --log-file also everything as JSON in that file.
 */
export const createLog = (context: CliContext, { verbose, logFile }: LogOptions): Logger => {
  const level = levels[Math.min(verbose, 2)] ?? 'warn'
  const streams: StreamEntry[] = [{ level, stream: { write: (line) => context.stderr.write(`${forPeople(line)}\n`) } }]
  if (logFile !== undefined)
    streams.push({ level: 'trace', stream: fileStream(resolve(context.cwd, logFile), logFile) })
  return pino({ level: 'trace', base: { pid: process.pid } }, pino.multistream(streams, { dedupe: false }))
}

const fileStream = (path: string, name: string): StreamEntry['stream'] => {
  try {
    const descriptor = openSync(path, 'a', 0o600)
    return { write: (line) => void writeSync(descriptor, line) }
  } catch (thrown) {
    throw new DroverError({
      code: 'usage',
      message: `The log file ${name} cannot be written.`,
      remedy: 'Name a file in a directory that exists and that you may write to.',
      detail: thrown instanceof Error ? thrown.message : String(thrown),
      cause: thrown,
    })
  }
}

const own = new Set(['level', 'time', 'pid', 'msg'])

const forPeople = (line: string): string => {
  const fields = JSON.parse(line) as Record<string, unknown>
  const level = pino.levels.labels[Number(fields.level)] ?? 'info'
  const others = Object.entries(fields).filter(([key]) => !own.has(key))
  const told = others
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('')
  return printable(`drover: ${level}: ${String(fields.msg ?? '')}${told}`)
}
