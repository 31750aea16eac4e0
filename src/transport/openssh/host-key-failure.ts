import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { fingerprintOf } from '../host-keys/host-key.ts'
import { shownKeyError } from '../host-keys/host-key-errors.ts'
import { type HostKeyVerdict, judgeHostKey } from '../host-keys/known-hosts-lookup.ts'
import type { FailureFacts } from './master-errors.ts'

/** Null: the host key was no trouble. */
export const hostKeyFailure = ({ host, log, known }: FailureFacts): DroverError | null => {
  const says = (pattern: RegExp): boolean => log.words.some((word) => pattern.test(word))
  const shown = log.shownKey ?? 'a key that ssh does not name'
  if (says(/REVOKED HOST KEY DETECTED|is marked as revoked|revoked by file/)) {
    const by = [...known.named, ...known.withoutPort].find(
      ({ marker, blob }) => marker === 'revoked' && shown.endsWith(fingerprintOf(blob)),
    )
    return by === undefined ? elsewhere(host, shown) : shownKeyError(host, shown, { status: 'revoked', by })
  }
  const isChanged = says(/REMOTE HOST IDENTIFICATION HAS CHANGED/)
  if (!isChanged && !says(/host key is known for .* requested strict checking|^Host key verification failed/))
    return null
  // A key that is no key matches nothing, so this is what is known beside the key that was shown.
  const other = judgeHostKey(known, Buffer.alloc(0))
  const unknown: HostKeyVerdict = { status: 'unknown', hasAuthority: other.status === 'unknown' && other.hasAuthority }
  const changed: HostKeyVerdict = other.status === 'changed' ? other : { status: 'changed', knownTypes: [], known: [] }
  return shownKeyError(host, shown, isChanged ? changed : unknown)
}

const elsewhere = (host: Host, shown: string): DroverError =>
  new DroverError({
    code: 'host-key-revoked',
    message: `${host.address} port ${host.port} shows a key that is revoked: ${shown}.`,
    remedy: 'Give the host a new key (ssh-keygen -A after removing the old one) and enter it in known_hosts.',
  })
