/** A unit file as data: sections in order, each a list of assignments. */
export type Assignment = readonly [key: string, value: string]
export interface UnitSection {
  readonly name: 'Unit' | 'Service' | 'Install'
  readonly lines: readonly Assignment[]
}

/**
 * systemd has no trailing comments: one behind a value becomes part of it (domain.md 3.1). So there is no
 * way to write a comment here, and a value that would end its line, or continue it, is a fault.
 */
export const unitFile = (sections: readonly UnitSection[]): string =>
  sections.map(({ name, lines }) => `[${name}]\n${lines.map(assignment).join('')}`).join('\n')

const assignment = ([key, value]: Assignment): string => {
  if (/[\n\r\0]|\\$|\s#/.test(value)) throw new Error(`the value of ${key}= does not fit on one line of a unit file`)
  return `${key}=${value}\n`
}
