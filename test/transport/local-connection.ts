import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import type { Connection, ExecRequest, ExecResult } from '../../src/transport/connection.ts'
import { stdinBytes } from './decode-command.ts'
import { fakeHost } from './fake-host.ts'

export interface LocalConnection {
  readonly connection: Connection
  readonly commands: readonly string[]
  /** All that was written to commands' standard input, in order. */
  readonly written: () => Buffer
}

/**
 * A connection to this machine: each command is run by a real shell, which finds these programs (POSIX sh, by name)
 * before all others. For our own harmless scripts alone.
 */
export const createLocalConnection = (programs: Record<string, string>, shell = '/bin/sh'): LocalConnection => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}`)
    chmodSync(join(folder, name), 0o755)
  }
  const commands: string[] = []
  const written: Uint8Array[] = []

  const exec = (request: ExecRequest): Promise<ExecResult> =>
    new Promise((resolve, reject) => {
      commands.push(request.command)
      const child = spawn(shell, ['-c', request.command], {
        stdio: 'pipe',
        env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
      })
      const fail = (error: DroverError): void => {
        child.stdin.destroy()
        child.kill()
        reject(error)
      }
      const write = (bytes: Uint8Array): void => {
        written.push(bytes)
        child.stdin.write(bytes)
      }
      const late = new DroverError({ code: 'command-timeout', message: 'Too late.', remedy: 'Wait.' })
      const timer = setTimeout(() => fail(late), request.deadlineMs)
      const partner = request.talk?.({ write: async (bytes) => write(bytes), end: () => child.stdin.end(), fail })
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
      child.stdout.on('data', (chunk: Buffer) => {
        stdout.push(chunk)
        request.onStdout?.(chunk)
        partner?.stdout?.(chunk)
      })
      child.stderr.on('data', (chunk: Buffer) => {
        stderr.push(chunk)
        partner?.stderr?.(chunk)
      })
      child.stdin.on('error', () => undefined)
      child.on('error', reject)
      child.on('close', (code, signal) => {
        clearTimeout(timer)
        resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) })
      })
      if (partner !== undefined) return
      write(stdinBytes(request.stdin))
      child.stdin.end()
    })

  return {
    connection: { host: fakeHost({ user: 'deploy' }), serverVersion: 'local', exec, close: async () => undefined },
    commands,
    written: () => Buffer.concat(written),
  }
}
