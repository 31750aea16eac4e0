/** The most that an archive and a binary may have, each: what the agent itself takes. */
export const largestRelease = 256 * 1024 * 1024

export const shownSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes} bytes` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
