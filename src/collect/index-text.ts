import { printable } from '../printable.ts'
import type { BundleInfo, CollectedPart } from './bundle.ts'

/** What the bundle is, what each part of it is, and what is missing from it and why. */
export const indexText = (
  { host, collected, version, sinceS }: BundleInfo,
  parts: readonly CollectedPart[],
  isRoot: boolean,
): string => {
  const there = parts.filter(({ bytes }) => bytes > 0)
  const gone = parts.filter(({ bytes }) => bytes === 0)
  const lines = [
    `Collected from ${printable(host)} by drover ${version} at ${collected.toISOString()}.`,
    'Everything was only read. Journals go back ' +
      `${spanOf(sinceS)}, their times are UTC. ${isRoot ? 'It was read as root.' : 'IT WAS READ WITHOUT ROOT: what only root may read is missing, and journals are in part.'}`,
    '',
    'REDACTED. Secrets that drover knew are [secret]; what stands by the name of a secret or looks like one is [redacted].',
    'A secret with neither a known name nor a known form cannot be told from other text. Host names, addresses, user names',
    'and resource ids are left in. Look through it before you pass it on.',
    '',
    'FILES',
    ...there.map(
      ({ file, about, bytes, hidden, note }) =>
        `  ${file.padEnd(36)} ${String(bytes).padStart(8)} bytes  ${about}` +
        (hidden === 0 ? '' : ` [${hidden} hidden]`) +
        (note === null ? '' : ` [${printable(note)}]`),
    ),
    '',
    'MISSING',
    ...(gone.length === 0 ? ['  nothing'] : []),
    ...gone.map(({ file, about, note }) => `  ${file.padEnd(36)} ${about}: ${printable(note ?? 'empty')}`),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

const spanOf = (seconds: number): string =>
  seconds % 3600 === 0 ? `${seconds / 3600} h` : seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
