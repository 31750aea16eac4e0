import type { InputFault } from '../errors.ts'

/** A place in a file as the user named the file. Lines and columns start at 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

export interface Located<T> {
  readonly value: T
  readonly at: Position
}

export const showPosition = (at: Position): string => `${at.file}:${at.line}:${at.column}`

export const faultAt = (at: Position, message: string, remedy: string): InputFault => ({ ...at, message, remedy })

/** Collects faults; of those with one `once` key only the first is kept, so that a range gives one fault, not thousands. */
export interface FaultList {
  readonly faults: readonly InputFault[]
  add(fault: InputFault, once?: string): void
}

export const faultList = (): FaultList => {
  const faults: InputFault[] = []
  const seen = new Set<string>()
  const add = (fault: InputFault, once?: string): void => {
    if (once !== undefined && seen.has(once)) return
    if (once !== undefined) seen.add(once)
    faults.push(fault)
  }
  return { faults, add }
}
