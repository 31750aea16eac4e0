import { FrameReader } from './frame-reader.ts'

interface Streams {
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** What the two output streams of a composed command amount to. `noise` is what others wrote before our script. */
export type Framed =
  | ({ readonly kind: 'complete'; readonly code: number; readonly noise: Streams } & Streams)
  /** The script began and its end is missing: it was killed, or the streams were cut. */
  | ({ readonly kind: 'cut'; readonly noise: Streams } & Streams)
  /** Not a line of the script ran, or none of it shows. */
  | { readonly kind: 'not-begun'; readonly noise: Streams }

/** Complete only if both streams carry their trailer: one that lacks it may lack more. */
export const deframe = (token: string, output: { stdout: Uint8Array; stderr: Uint8Array }): Framed => {
  const stdout = readFrame(token, output.stdout)
  const stderr = readFrame(token, output.stderr)
  const noise = { stdout: stdout.reader.noise, stderr: stderr.reader.noise }
  if (!stdout.reader.hasBegun && !stderr.reader.hasBegun) return { kind: 'not-begun', noise }
  const streams = { stdout: stdout.body, stderr: stderr.body, noise }
  const { code } = stdout.reader
  return code === null || !stderr.reader.hasEnded ? { kind: 'cut', ...streams } : { kind: 'complete', code, ...streams }
}

const readFrame = (token: string, bytes: Uint8Array): { reader: FrameReader; body: Buffer } => {
  const reader = new FrameReader(token)
  const certain = reader.push(bytes)
  const rest = reader.rest()
  return { reader, body: rest.length === 0 ? certain : Buffer.concat([certain, rest]) }
}
