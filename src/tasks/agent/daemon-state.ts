import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { isMachine, type Machine } from './names.ts'
import { daemonStateChecksum, daemonStateFile } from './paths.ts'

const sizeLimit = 65_536

/** The side that is in use, or why nobody can say: it is never guessed (O-15). */
export type DaemonState =
  | { readonly ok: true; readonly activeMachine: Machine }
  | { readonly ok: false; readonly error: string }

export const daemonStateFacts = (): Fact[] => [
  { kind: 'path', path: daemonStateFile, content: sizeLimit, sha256: true },
  { kind: 'path', path: daemonStateChecksum, content: 256 },
]

/** Needs root: the files are 0600. */
export const readDaemonState = (view: HostView): DaemonState => {
  const text = view.text(daemonStateFile)
  if (text === null) return unusable(`${daemonStateFile} is missing`)
  const file = view.target(daemonStateFile)
  if (file.type === 'file' && file.size > sizeLimit)
    return unusable(`${daemonStateFile} is larger than ${sizeLimit} bytes`)
  const expected = view.text(daemonStateChecksum)?.trim().toLowerCase()
  if (expected === undefined) return unusable(`${daemonStateChecksum} is missing`)
  if (expected !== view.sha256(daemonStateFile)) return unusable(`${daemonStateFile} does not match its checksum`)
  return fromJson(text)
}

const fromJson = (text: string): DaemonState => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unusable(`${daemonStateFile} is not JSON`)
  }
  const active =
    typeof value === 'object' && value !== null && 'activeMachine' in value ? value.activeMachine : undefined
  return isMachine(active)
    ? { ok: true, activeMachine: active }
    : unusable(`${daemonStateFile} names no active machine`)
}

const unusable = (error: string): DaemonState => ({ ok: false, error })
