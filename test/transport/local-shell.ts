import { spawn } from 'node:child_process'
import type { ExecRequest } from '../../src/transport/connection.ts'
import { stdinBytes } from './decode-command.ts'

interface Ended {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** Runs a command as sshd would: one argument to the login shell's -c. Only for our own harmless scripts. */
export const runLocally = (
  { command, stdin }: Pick<ExecRequest, 'command' | 'stdin'>,
  shell = '/bin/sh',
  env = process.env,
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(shell, ['-c', command], { stdio: 'pipe', env })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }))
    // A command that ends without reading its input breaks the pipe, and that is no fault of the test.
    child.stdin.on('error', () => undefined)
    child.stdin.end(stdinBytes(stdin))
  })
