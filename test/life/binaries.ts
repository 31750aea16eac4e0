import { digest } from '../tasks/switch/release.ts'

/** A binary of the agent as these hosts know it: its bytes are its name. */
export interface AgentBinary {
  readonly name: string
  readonly version: string
  /** It knows the host root, links it and moves to it. */
  readonly knowsRoot: boolean
  /** As a daemon it stays up; otherwise it says its version and crashes as an agent. */
  readonly staysUp: boolean
}

const binary = (name: string, version: string, knowsRoot: boolean, staysUp = true): AgentBinary => ({
  name,
  version,
  knowsRoot,
  staysUp,
})

export const hostRootSince = 'v0.3.0'
export const binaries = {
  plain: binary('plain', 'v0.1.0', false),
  old: binary('old', 'v0.2.0', false),
  first: binary('first', 'v0.3.0', true),
  second: binary('second', 'v0.4.0', true),
  crashing: binary('crashing', 'v0.5.0', true, false),
} as const
export type BinaryName = keyof typeof binaries

const byDigest = new Map(Object.values(binaries).map((one) => [digest(one.name), one]))

/** Null: no binary of the agent. */
export const binaryOf = (sha256: string | null): AgentBinary | null => byDigest.get(sha256 ?? '') ?? null
export const nameOfDigest = (sha256: string): string => {
  const binary = binaryOf(sha256)
  if (binary === null) throw new Error(`no binary has the digest ${sha256}`)
  return binary.name
}
