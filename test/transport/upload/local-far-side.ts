import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, ExecRequest, ExecResult } from '../../../src/transport/connection.ts'
import { runScript } from '../../../src/transport/script/run-script.ts'
import { writeStdin } from '../../../src/transport/session/write-stdin.ts'
import type { FarSide } from '../../../src/transport/upload/far-side.ts'
import { lostError } from '../fake-answers.ts'
import { fakeHost } from '../fake-host.ts'

/** What happens to the connection: how many bytes of the standard input of its commands get through, and in what form. */
export interface Wire {
  /** After so many the connection breaks, and is whole again for the next command; undefined: it holds. */
  cutAfter?: number | undefined
  /** What becomes of each piece on the way. */
  damage?: (piece: Uint8Array) => Uint8Array
  /** Who logs in, if not the user of the test. */
  uid?: number
}

export interface LocalFarSide extends FarSide {
  /** The bytes that were written, scripts included, one entry for each command. */
  readonly written: number[]
  readonly verbs: string[]
  readonly reconnects: string[]
}

/** The container of the test in the part of the host: these scripts are made for hosts. */
export const localFarSide = (wire: Wire = {}, run = 'r1'): LocalFarSide => {
  const written: number[] = []
  const verbs: string[] = []
  const reconnects: string[] = []
  const exec = (request: ExecRequest): Promise<ExecResult> =>
    new Promise((resolve, reject) => {
      const child = spawn('/bin/sh', ['-c', request.command], {
        stdio: 'pipe',
        ...(wire.uid !== undefined && { uid: wire.uid }),
      })
      const at = written.push(0) - 1
      let left = wire.cutAfter ?? Number.POSITIVE_INFINITY
      let isOver = false
      const end = (error: Error): void => {
        isOver = true
        child.stdin.destroy()
        // What the command still has to say is heard by nobody.
        child.stdout.destroy()
        child.on('close', () => reject(error))
      }
      const onAbort = (): void => end(request.signal?.reason as Error)
      request.signal?.addEventListener('abort', onAbort, { once: true })
      const pieces = async function* (): AsyncGenerator<Uint8Array> {
        const stdin = request.stdin ?? []
        for await (const piece of stdin instanceof Uint8Array ? [stdin] : stdin) {
          const through = piece.subarray(0, left)
          written[at] = (written[at] ?? 0) + piece.length
          left -= through.length
          yield wire.damage?.(through) ?? through
          if (left > 0) continue
          wire.cutAfter = undefined
          // What was written has left this process.
          await sleep(20)
          end(lostError())
          return
        }
      }
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
      child.stdout.on('data', (chunk: Buffer) => {
        stdout.push(chunk)
        request.onStdout?.(chunk)
      })
      child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
      child.stdin.on('error', () => undefined)
      child.on('close', (code, signal) => {
        if (!isOver) resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) })
      })
      void writeStdin(child.stdin, pieces(), () => isOver)
    })
  const connection: Connection = {
    host: fakeHost(),
    serverVersion: 'SSH-2.0-Local',
    exec,
    close: async () => undefined,
  }
  return {
    run,
    written,
    verbs,
    reconnects,
    exec: (script) => {
      verbs.push(script.payload === undefined ? 'probe' : (script.args[4] ?? ''))
      return runScript(connection, { run, verb: 'upload', become: null, ...script })
    },
    reconnect: async ({ message }) => void reconnects.push(message),
  }
}
