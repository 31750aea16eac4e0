const kib = 1024

export interface Pace {
  /** The host says of each piece of this size that it has it. */
  readonly pieceBytes: number
  /** The most that is on its way and not yet acknowledged: what a cut can cost. */
  readonly windowBytes: number
}

/** No piece takes longer than this where a host has the rate for itself. */
const pieceS = 2

/**
 * What is sent twice after a cut stays below 5 % of the upload, with what a decoder on the host holds back. A small one
 * may lose more of itself, for else it would wait for the host at every step of a long way; but little of the file.
 * `bytesPerS`: what this machine lets go at most. The host renews the lease of the run with each piece, so at a slow rate,
 * which hosts share, a piece is small.
 */
export const paceOf = (encodedBytes: number, fileBytes: number, bytesPerS = Number.POSITIVE_INFINITY): Pace => {
  const least = Math.max(64 * kib, Math.min(256 * kib, Math.floor(fileBytes / 32)))
  const windowBytes = Math.max(least, Math.floor(encodedBytes / 32))
  const most = Math.min(Math.floor(windowBytes / 4), bytesPerS * pieceS)
  return { windowBytes, pieceBytes: Math.max(1, Math.floor(most / (4 * kib))) * 4 * kib }
}

/** How many of the sent bytes the host has, when it has said so of this many pieces. */
export const acknowledgedBytes = (pieces: number, { pieceBytes }: Pace, encodedBytes: number): number =>
  Math.min(pieces * pieceBytes, encodedBytes)
