import type { Known } from './unknown.ts'

export interface Ownership {
  /** Permission bits, such as 0o644. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly user: string
  readonly group: string
}

export interface FileNode extends Ownership {
  readonly type: 'file'
  readonly size: number
  /** Hex; absent when it was not asked for. */
  readonly sha256?: Known<string>
  /** The first bytes, as many as were asked for; absent when they were not. */
  readonly content?: Known<Uint8Array>
  /** `device:inode`; absent for a file that does not exist yet. */
  readonly inode?: string
  /** Seconds since 1970; absent for a file that does not exist yet. */
  readonly modifiedS?: number
}

export interface DirectoryNode extends Ownership {
  readonly type: 'directory'
  /** Names in it, sorted; absent when they were not asked for. */
  readonly entries?: Known<readonly string[]>
  readonly inode?: string
}

/** What lies at one path, by lstat. */
export type Node =
  | { readonly type: 'absent' }
  | FileNode
  | DirectoryNode
  | { readonly type: 'symlink'; readonly target: string }
  | { readonly type: 'other' }
  /** The host did not let us look, or looking could hang: the reason. */
  | { readonly type: 'unreadable'; readonly why: string }

export const absent: Node = { type: 'absent' }
export type KnownNode = Known<Node>
