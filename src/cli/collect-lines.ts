import { printable } from '../printable.ts'
import { counted, duration, type Paint } from '../report/paint.ts'
import type { Collected } from './collect-lane.ts'

export interface CollectLook {
  readonly paint: Paint
  readonly verbose: number
}

/** For people: a line for each host, what is missing with -v, and where the bundles are. */
export const collectLines = (
  rows: readonly Collected[],
  { directory, ms }: { readonly directory: string; readonly ms: number },
  { paint, verbose }: CollectLook,
): readonly string[] => {
  const collected = rows.filter((row) => 'bundle' in row)
  const without = collected.filter(({ isRoot }) => !isRoot)
  return [
    ...rows.flatMap((row) => hostLines(row, { paint, verbose })),
    ...(rows.length === 0 ? [] : ['']),
    `${counted(rows.length, 'host')}: ${counted(collected.length, 'bundle')} in ${duration(ms)}`,
    ...(without.length === 0
      ? []
      : [
          `read without root, so in part: ${without.map(({ host }) => printable(host)).join(', ')}`,
          '  fix: Log in as root, or add -b, with -K where sudo wants a password.',
        ]),
    ...(collected.length === 0
      ? []
      : [
          `bundles: ${printable(directory)}`,
          'Redacted by known secrets, names and forms, and that is not everything: look through a bundle before you pass it on.',
        ]),
  ]
}

const hostLines = (row: Collected, { paint, verbose }: CollectLook): readonly string[] => {
  const host = printable(row.host)
  if ('error' in row) {
    const { message, code, remedy } = row.error
    return [paint('bad', `${host}: ${printable(message)} [${code}]`), `  fix: ${printable(remedy)}`]
  }
  const { parts, hidden } = row.bundle
  const missing = parts.filter(({ isMissing }) => isMissing)
  const said = [
    `${Math.ceil(row.bytes / 1024)} KiB`,
    counted(parts.filter(({ bytes }) => bytes > 0).length, 'file'),
    ...(missing.length === 0 ? [] : [`${missing.length} missing`]),
    `${hidden} redacted`,
  ]
  return [
    paint('good', `${host}: ${printable(row.file)} (${said.join(', ')})`),
    ...(verbose === 0
      ? []
      : parts.filter(({ note }) => note !== null).map(({ file, note }) => `    ${file}: ${printable(note ?? '')}`)),
  ]
}
