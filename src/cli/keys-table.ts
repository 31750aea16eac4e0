import type { DroverError } from '../errors.ts'
import { printable, printableLines } from '../printable.ts'
import { counted, type Paint, type Tone } from '../report/paint.ts'
import { fingerprintOf } from '../transport/host-keys/host-key.ts'
import { hostKeyError } from '../transport/host-keys/host-key-errors.ts'
import type { SurveyedKey } from '../transport/host-keys/known-hosts-survey.ts'
import type { ScannedHost } from './keys-scan.ts'
import { type Cell, type TableLook, tableLines } from './table.ts'

const header = ['HOST', 'ADDRESS', 'TYPE', 'FINGERPRINT', 'STATE']

const words: Readonly<Record<SurveyedKey['state'], { readonly text: string; readonly tone: Tone }>> = {
  known: { text: 'known', tone: 'good' },
  new: { text: 'NEW', tone: 'changed' },
  changed: { text: 'CHANGED', tone: 'bad' },
  revoked: { text: 'REVOKED', tone: 'bad' },
}

export const keyTable = (scanned: readonly ScannedHost[], look: TableLook): readonly string[] =>
  tableLines(header, scanned.flatMap(rowsOf), look)

const rowsOf = ({ host, keys, error }: ScannedHost): readonly (readonly Cell[])[] => {
  const place = [{ text: host.name }, { text: addressOf(host.address, host.port) }]
  if (error !== null) return [[...place, { text: '-' }, { text: '-' }, { text: 'unreachable', tone: 'bad' }]]
  return keys.map(({ blob, type, state }) => [...place, { text: type }, { text: fingerprintOf(blob) }, words[state]])
}

const addressOf = (address: string, port: number): string => {
  if (port === 22) return address
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** What is wrong with a host's keys, as a connection to it would say. */
export const keyErrors = ({ host, keys, error }: ScannedHost): readonly DroverError[] => {
  if (error !== null) return [error]
  return keys.flatMap(({ blob, state, known }) => {
    const [by] = known
    if (state === 'changed')
      return [hostKeyError(host, blob, { status: 'changed', known, knownTypes: known.map(({ keyType }) => keyType) })]
    return state === 'revoked' && by !== undefined ? [hostKeyError(host, blob, { status: 'revoked', by })] : []
  })
}

/** Below the table: why, what to do, and the fleet in numbers. */
export const keySummary = (scanned: readonly ScannedHost[], paint: Paint): readonly string[] => {
  const count = (state: SurveyedKey['state']): number =>
    scanned.flatMap(({ keys }) => keys).filter((key) => key.state === state).length
  const tallies = [
    `${count('known')} known`,
    `${count('new')} new`,
    ...(count('changed') > 0 ? [`${count('changed')} changed`] : []),
    ...(count('revoked') > 0 ? [`${count('revoked')} revoked`] : []),
  ]
  const away = scanned.filter(({ error }) => error !== null).length
  return [
    ...scanned.flatMap((one) => keyErrors(one).flatMap((error) => troubleLines(one.host.name, error, paint))),
    `${counted(scanned.length, 'host')}: ${counted(scanned.flatMap(({ keys }) => keys).length, 'key')}, ${tallies.join(', ')}` +
      (away > 0 ? `; ${away} unreachable` : ''),
  ]
}

const troubleLines = (host: string, error: DroverError, paint: Paint): readonly string[] => [
  paint('bad', `${printable(host)}: ${printable(error.message)} [${error.code}]`),
  ...(error.detail === undefined ? [] : printableLines(error.detail).map((line) => `    ${line}`)),
  `  fix: ${printable(error.remedy)}`,
]
