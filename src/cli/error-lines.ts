import { type DroverError, InputError, type InputFault } from '../errors.ts'
import { printable, printableLines } from '../printable.ts'
import type { Paint } from '../report/paint.ts'

export interface ErrorLook {
  readonly paint: Paint
  /** Show where in drover's own code it happened. */
  readonly stack: boolean
}

/** What is wrong, its code, what to do next; each fault of a file with a line and a remedy of its own. */
export const errorLines = (error: DroverError, look: ErrorLook): readonly string[] => [
  ...(error instanceof InputError
    ? error.faults.flatMap((fault) => faultLines(fault, error.code, look.paint))
    : plainLines(error, look.paint)),
  ...(error.detail === undefined ? [] : indented(error.detail)),
  ...(look.stack ? stackLines(error) : []),
]

const faultLines = (fault: InputFault, code: string, paint: Paint): readonly string[] => {
  const where = [fault.file, fault.line, fault.column].filter((part) => part !== undefined).join(':')
  return [
    paint('bad', `drover: ${printable(`${where} ${fault.message}`)} [${code}]`),
    `  fix: ${printable(fault.remedy)}`,
  ]
}

const plainLines = (error: DroverError, paint: Paint): readonly string[] => {
  const [first = '', ...rest] = printableLines(error.message)
  const host = error.host === undefined ? '' : `[${printable(error.host)}] `
  return [
    paint('bad', `drover: ${host}${first} [${error.code}]`),
    ...rest.map((line) => `    ${line}`),
    `  fix: ${printable(error.remedy)}`,
  ]
}

const stackLines = (error: Error): readonly string[] => {
  const stacks: string[] = []
  for (let at: unknown = error; at instanceof Error && stacks.length < 10; at = at.cause)
    stacks.push(at.stack ?? at.message)
  return stacks.flatMap((stack, index) => indented(index === 0 ? stack : `caused by ${stack}`))
}

const indented = (text: string): readonly string[] => printableLines(text).map((line) => `    ${line}`)
