import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { printableText as printable } from '../../printable.ts'
import { unsafeWords } from './words.ts'

const mostNamed = 5

/** Rejects what no quoting carries through ssh and the shells that it may start. */
export const refuseUnsafeWords = (hosts: readonly Host[]): void => {
  const found = hosts.flatMap((host) => unsafeWords(host).map((word) => ({ host, ...word })))
  if (found.length === 0) return
  const lines = found
    .slice(0, mostNamed)
    .map(
      ({ host, field, value }) =>
        `${host.name}: the ${field} ${JSON.stringify(printable(value))} cannot be given to ssh.`,
    )
  throw new DroverError({
    code: 'inventory-invalid',
    message: [...lines, ...(found.length > mostNamed ? [`And ${found.length - mostNamed} more.`] : [])].join('\n'),
    remedy: 'Use names without blanks, quotes and characters that a shell treats specially, or --transport ssh2.',
  })
}
