import type { Duplex } from 'node:stream'
import type { ServerHostKeyAlgorithm } from 'ssh2'
import ssh2 from 'ssh2'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { ConnectOptions } from '../connection.ts'
import { algorithmsFor } from '../ssh2/algorithms.ts'
import { watchGreeting } from '../ssh2/greeting.ts'
import { handshakeError, handshakeTimeout, placeOf } from '../ssh2/handshake-errors.ts'
import { runStage } from '../stage.ts'

/** Looks at hosts no further than their keys: nobody logs in. */
export interface HostKeyScanner {
  /** One key of each kind that the host has, at least one. Its jump hosts are logged in to, and must be known. */
  hostKeysOf(host: Host, options?: ConnectOptions): Promise<readonly Buffer[]>
  close(): Promise<void>
}

/** A host shows one key for each connection; these are the kinds to ask for, in ssh's order. */
export const hostKeyKinds: readonly (readonly ServerHostKeyAlgorithm[])[] = [
  ['ssh-ed25519'],
  ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'],
  ['rsa-sha2-512', 'rsa-sha2-256'],
]

export interface ShowKeyOptions {
  readonly host: Host
  readonly socket: Duplex
  readonly kind: readonly ServerHostKeyAlgorithm[]
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/** The host's key of this kind; null: it has none. Ends the connection, whatever comes. */
export const showHostKey = ({ host, socket, kind, deadlineMs, signal }: ShowKeyOptions): Promise<Buffer | null> => {
  const client = new ssh2.Client()
  const end = (): void => {
    client.destroy()
    socket.destroy()
  }
  const timeoutError = (): DroverError => handshakeTimeout(host, deadlineMs)
  return runStage<Buffer | null>({ deadlineMs, timeoutError, signal }, ({ done, failed }) => {
    let greeting = { version: '', text: '' }
    let isShown = false
    const broken = (cause?: Error): void => {
      if (isShown) return
      // The far side has spoken by then: the words are ssh2's own.
      if (cause?.message.includes('no matching host key format')) done(null)
      else failed(handshakeError(host, greeting, cause))
    }
    client.on('error', broken)
    client.on('close', () => broken())
    client.connect({
      sock: socket,
      username: 'drover',
      readyTimeout: 0,
      algorithms: { ...algorithmsFor([]), serverHostKey: [...kind] },
      hostVerifier: (blob: Buffer) => {
        isShown = true
        // ssh2 may reuse the packet this is a part of.
        done(Buffer.from(blob))
        return false
      },
    })
    greeting = watchGreeting(socket)
    return end
  }).finally(end)
}

export const noUsableHostKey = (host: Host): DroverError =>
  new DroverError({
    code: 'handshake-failed',
    message: `${placeOf(host)} has no host key that drover can use.`,
    remedy: 'Give it an ed25519, ECDSA or RSA host key (ssh-keygen -A), or see its keys with ssh-keyscan.',
  })
