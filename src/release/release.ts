import type { Secret } from '../secret.ts'

/** What Go and the agent's archives call the architectures that drover knows. */
export const architectures = ['amd64', 'arm64'] as const
export type Architecture = (typeof architectures)[number]

/** By `uname -m`; undefined: no release is built for it. */
export const architectureOf = (machine: string): Architecture | undefined =>
  machine === 'x86_64' ? 'amd64' : machine === 'aarch64' ? 'arm64' : undefined

/** One binary as it was asked for. */
export interface BinarySource {
  /** A path on this machine: the binary itself, or a `.tar.gz` that holds nothing but `aks-flex-node-linux-ARCH`. */
  readonly file?: string
  /** `https://...`; its query may be a signature and is shown nowhere. Of a secret nothing but the host is. */
  readonly url?: string | Secret
  /** Hex, of the file or of what the URL gives: the archive where it is one. */
  readonly sha256: string
  /** Hex, of the binary in the archive. */
  readonly binarySha256?: string
}

/** A binary of this machine that has been checked: digest, size, ELF of its architecture. */
export interface Binary {
  readonly file: string
  readonly sha256: string
  readonly size: number
}

/** A release as a playbook's `agent` names it; `binaries` once it has been fetched and checked. */
export interface Release {
  readonly version: string
  /** The first version that knows the host root (U9). */
  readonly hostRootSince?: string
  readonly sources: Readonly<Partial<Record<Architecture, BinarySource>>>
  readonly binaries?: Readonly<Partial<Record<Architecture, Binary>>>
}

export interface Releases {
  /** The same release with its binaries. Rejects with `release-invalid` or `release-unavailable`. */
  fetch(release: Release): Promise<Release>
}
