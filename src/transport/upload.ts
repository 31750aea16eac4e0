import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { DroverError } from '../errors.ts'
import { printableText as printable } from '../printable.ts'
import type { Become } from './become/become.ts'
import type { Connection, Stdin } from './connection.ts'
import { runScript } from './script/run-script.ts'

/**
 * `bytes` are shared by all uploads of them and never copied. A `file` is read anew for each, piece by piece; it has
 * to stay as it was when its size and digest were taken, and the host finds out if it did not.
 */
type UploadSource = { readonly bytes: Buffer } | { readonly file: string; readonly size: number }

export interface Upload {
  readonly source: UploadSource
  /** Absolute. A link in this place is replaced, not followed. */
  readonly path: string
  /** Octal, as chmod takes it. */
  readonly mode: string
  /** `user:group`; absent: whoever logs in, or root with become. */
  readonly owner?: string
  /** Of the whole content, computed once for all hosts. */
  readonly sha256: string
  /** The run, for the label in the host's logs. */
  readonly run: string
  readonly become: Become | null
  readonly signal?: AbortSignal
  readonly deadlineMs: number
}

// Its own answer is empty; what remains is what mktemp, chown and their like have to say.
const maxBytes = 64 * 1024
const pieceBytes = 256 * 1024

/** Puts a file on a host, in one exec: whole, with its mode, owner and digest checked, or not at all. */
export const uploadFile = async (connection: Connection, upload: Upload): Promise<void> => {
  const { source, path, mode, owner = '', sha256, run, become, signal, deadlineMs } = upload
  const size = 'bytes' in source ? source.bytes.length : source.size
  const answer = await runScript('bytes' in source ? connection : thenFile(connection, source.file), {
    run,
    verb: 'upload',
    script: script(),
    args: [path, mode, owner, String(size), sha256],
    payload: 'bytes' in source ? source.bytes : Buffer.alloc(0),
    become,
    deadlineMs,
    maxBytes,
    ...(signal !== undefined && { signal }),
  })
  if (answer.code !== 0) throw uploadError(path, answer.code, printable(answer.stderr.toString('utf8')).trim())
}

/** The connection, with the file behind whatever its commands read. */
const thenFile = (connection: Connection, file: string): Connection => ({
  host: connection.host,
  serverVersion: connection.serverVersion,
  exec: (request) => connection.exec({ ...request, stdin: followedBy(request.stdin ?? [], file) }),
  close: () => connection.close(),
})

async function* followedBy(stdin: Stdin, file: string): AsyncGenerator<Uint8Array> {
  yield* stdin instanceof Uint8Array ? [stdin] : stdin
  const handle = await open(file)
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

let text: string | undefined
const script = (): string => {
  text ??= readFileSync(new URL('./upload.sh', import.meta.url), 'utf8').replace(/^[ \t]*#.*\n/gm, '')
  return text
}

const uploadError = (path: string, code: number, words: string): DroverError =>
  new DroverError({
    code: 'change-failed',
    message: `The host did not take the file ${path}: ${reasons.get(code) ?? `exit code ${code}`}.`,
    remedy: remedies.get(code) ?? 'Read what the host says below and mend its cause, then run again.',
    ...(words !== '' && { detail: words }),
  })

const reasons = new Map([
  [91, 'it could not be written'],
  [92, 'it arrived with another length'],
  [93, 'it arrived with another content'],
  [94, 'it was written and could not be put in its place'],
])

const changed = 'Nothing was put in its place. See that the file here does not change while it is sent, then run again.'
const remedies = new Map([
  [91, 'See that its directory is there, that this user may write to it, and that its disk has room; then run again.'],
  [92, changed],
  [93, changed],
])
