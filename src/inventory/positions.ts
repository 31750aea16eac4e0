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

/** Positions by offset. Not the yaml library's own LineCounter: that misses line ends which its lexer stumbles over. */
export const positionFinder = (file: string, text: string): ((offset: number) => Position) => {
  const starts = [0]
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  // A fault at the end of a file is shown at the end of its last line, not on a line that no editor has.
  const last = text.trimEnd().length
  return (offset) => {
    const wanted = Math.min(offset, last)
    let line = 0
    for (let beyond = starts.length; beyond - line > 1; ) {
      const middle = (line + beyond) >> 1
      if ((starts[middle] ?? 0) <= wanted) line = middle
      else beyond = middle
    }
    return { file, line: line + 1, column: wanted - (starts[line] ?? 0) + 1 }
  }
}

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
