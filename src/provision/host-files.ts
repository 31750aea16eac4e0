import type { Secret } from '../secret.ts'

/** A file as it is to be on the host, its owner root. What is in it may be secret, so all of it is. */
export interface HostFile {
  readonly path: string
  readonly mode: number
  readonly content: Secret
  /** `base64`: what the file holds is no text. */
  readonly encoding: 'utf8' | 'base64'
}

interface HostDirectory {
  readonly path: string
  readonly mode: number
}

/** What a host is provisioned with, in no format yet. The unit is always the same. */
export interface Provisioned {
  readonly directories: readonly HostDirectory[]
  readonly files: readonly HostFile[]
  readonly authorizedKeys: readonly string[]
  /** The user's own Ignition, as it was given. */
  readonly merge: Secret | null
}

export const base64Of = ({ content, encoding }: HostFile): string =>
  Buffer.from(content.reveal(), encoding).toString('base64')
