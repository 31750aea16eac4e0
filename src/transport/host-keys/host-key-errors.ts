import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { shellQuote } from '../../quote.ts'
import { fingerprintOf, keyTypeOf } from './host-key.ts'
import { keyPlaceOf, knownHostsName } from './host-pattern.ts'
import type { KnownHostsLine } from './known-hosts-line.ts'
import type { HostKeyVerdict } from './known-hosts-lookup.ts'

/** Why a host's key was not accepted. */
export const hostKeyError = (
  host: Host,
  blob: Buffer,
  verdict: Exclude<HostKeyVerdict, { status: 'ok' }>,
): DroverError => shownKeyError(host, `${keyTypeOf(blob)} ${fingerprintOf(blob)}`, verdict)

/** The same where of the key only its type and fingerprint are known. */
export const shownKeyError = (
  host: Host,
  shown: string,
  verdict: Exclude<HostKeyVerdict, { status: 'ok' }>,
): DroverError => {
  const { address, port } = keyPlaceOf(host)
  const name = knownHostsName(address, port)
  switch (verdict.status) {
    case 'unknown':
      return new DroverError({
        code: 'host-key-unknown',
        message: `known_hosts has no key for ${name}; it shows ${shown}.`,
        remedy: verdict.hasAuthority
          ? "known_hosts vouches for this host by a certificate authority only, which drover does not read. Add the host's own key."
          : "Compare the fingerprint on the host's console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then write " +
            'it down with `drover keys scan --write`, or let drover learn new keys with --host-key-policy accept-new.',
      })
    case 'changed':
      return new DroverError({
        code: 'host-key-changed',
        message: `${name} shows another key than known_hosts holds: ${shown}.`,
        remedy:
          `If the host was reinstalled, remove the old key with ${removals(name, verdict.known)} and check the new ` +
          'fingerprint on its console. If it was not, somebody may stand between you and it.',
        detail: verdict.known
          .map(({ blob: known, ...at }) => `known: ${keyTypeOf(known)} ${fingerprintOf(known)} in ${placeOf(at)}`)
          .join('\n'),
      })
    case 'revoked':
      return new DroverError({
        code: 'host-key-revoked',
        message: `${name} shows a key that known_hosts marks @revoked: ${shown}.`,
        remedy: 'Give the host a new key (ssh-keygen -A after removing the old one) and enter it in known_hosts.',
        detail: `revoked in ${placeOf(verdict.by)}`,
      })
  }
}

type Place = Pick<KnownHostsLine, 'file' | 'line'>

const placeOf = ({ file, line }: Place): string => (line === undefined ? file : `${file}:${line}`)

/** One command for each file that holds a key of the host. */
const removals = (name: string, known: readonly Place[]): string =>
  [...new Set(known.map(({ file }) => file))]
    .map((file) => `\`ssh-keygen -R ${shellQuote(name)} -f ${shellQuote(file)}\``)
    .join(' and ')
