/**
 * Everything that can be asked of a host: a closed set. Facts are plain data, known before connecting,
 * and all facts of all steps are read by one script in one exec.
 */
export type Fact =
  /** What systemd has loaded under this name. `starts` also counts its starts in its own limit window. */
  | { readonly kind: 'unit'; readonly name: string; readonly starts?: boolean }
  /**
   * What lies at a path, by lstat, every ancestor included. `content` asks for the bytes of a regular file
   * up to that many; `secret` content never leaves the task that asked; `entries` lists a directory.
   * What a link leads to is always read along with it.
   */
  | {
      readonly kind: 'path'
      readonly path: string
      readonly content?: number
      readonly secret?: boolean
      readonly sha256?: boolean
      readonly entries?: boolean
    }
  /** Of the nearest existing ancestor: read-only, noexec, free bytes and inodes. */
  | { readonly kind: 'mount'; readonly path: string }
  | { readonly kind: 'package'; readonly name: string }
  /** Where a program is found in drover's fixed PATH. */
  | { readonly kind: 'program'; readonly name: string }
  /** A read-only command; its exit code and standard output. */
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly timeoutS?: number }
  /** Is something listening on this TCP port? */
  | { readonly kind: 'port'; readonly port: number }
  /** One of drover's own read-only questions that one command cannot put. */
  | { readonly kind: 'probe'; readonly name: ProbeName; readonly args?: readonly string[]; readonly timeoutS?: number }

export const probeNames = [
  'api-server',
  'swap',
  'conntrack',
  'selinux-denials',
  'unit-journal',
  'move-journal',
  'network-left',
  'activation-lock',
  'agent-preflight',
  'agent-version',
  'config-secret',
  'mounts-below',
] as const
export type ProbeName = (typeof probeNames)[number]

/** Two facts with the same key ask about the same thing and are read once. */
export const factKey = (fact: Fact): string => {
  switch (fact.kind) {
    case 'unit':
    case 'package':
    case 'program':
      return `${fact.kind}:${fact.name}`
    case 'path':
    case 'mount':
      return `${fact.kind}:${fact.path}`
    case 'command':
      return commandKey(fact.argv)
    case 'port':
      return `port:${fact.port}`
    case 'probe':
      return probeKey(fact.name, fact.args ?? [])
  }
}

export const commandKey = (argv: readonly string[]): string => `command:${JSON.stringify(argv)}`
export const probeKey = (name: ProbeName, args: readonly string[]): string => `probe:${JSON.stringify([name, ...args])}`

/** One fact per key; what several ask of the same path or unit is asked once, with all of their wishes. */
export const mergeFacts = (facts: readonly Fact[]): Fact[] => {
  const byKey = new Map<string, Fact>()
  for (const fact of facts) {
    const key = factKey(fact)
    const seen = byKey.get(key)
    byKey.set(key, seen === undefined ? fact : merge(seen, fact))
  }
  return [...byKey.values()]
}

const merge = (one: Fact, other: Fact): Fact => {
  if (one.kind === 'unit' && other.kind === 'unit') {
    return one.starts || other.starts ? { ...one, starts: true } : one
  }
  if (one.kind === 'path' && other.kind === 'path') {
    const content = Math.max(one.content ?? 0, other.content ?? 0)
    return {
      kind: 'path',
      path: one.path,
      ...(content > 0 && { content }),
      // Secret for one is secret for all: the other reader has no claim on what this one protects.
      ...((one.secret || other.secret) && { secret: true }),
      ...((one.sha256 || other.sha256) && { sha256: true }),
      ...((one.entries || other.entries) && { entries: true }),
    }
  }
  if (one.kind === 'command' && other.kind === 'command') {
    const timeoutS = Math.max(one.timeoutS ?? 0, other.timeoutS ?? 0)
    return timeoutS > 0 ? { ...one, timeoutS } : one
  }
  return one
}
