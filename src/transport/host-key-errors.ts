import { DroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import { fingerprintOf, keyTypeOf } from './host-key.ts'
import { knownHostsName } from './host-pattern.ts'
import type { HostKeyVerdict } from './known-hosts-lookup.ts'

/** Why a host's key was not accepted. */
export const hostKeyError = (
  host: Host,
  blob: Buffer,
  verdict: Exclude<HostKeyVerdict, { status: 'ok' }>,
  file: string,
): DroverError => {
  const name = knownHostsName(host.address, host.port)
  const shown = `${keyTypeOf(blob)} ${fingerprintOf(blob)}`
  switch (verdict.status) {
    case 'unknown':
      return new DroverError({
        code: 'host-key-unknown',
        message: `known_hosts has no key for ${name}; it shows ${shown}.`,
        remedy: verdict.hasAuthority
          ? "known_hosts vouches for this host by a certificate authority only, which drover does not read. Add the host's own key."
          : `Compare the fingerprint on the host's console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then connect once with ` +
            `\`ssh -p ${host.port} ${host.user}@${host.address}\`, or let drover learn it with --host-key-policy accept-new.`,
      })
    case 'changed':
      return new DroverError({
        code: 'host-key-changed',
        message: `${name} shows another key than known_hosts holds: ${shown}.`,
        remedy:
          `If the host was reinstalled, remove the old key with \`ssh-keygen -R '${name}' -f ${file}\` and check the new ` +
          'fingerprint on its console. If it was not, somebody may stand between you and it.',
        detail: verdict.known.map((known) => `known: ${keyTypeOf(known)} ${fingerprintOf(known)}`).join('\n'),
      })
    case 'revoked':
      return new DroverError({
        code: 'host-key-revoked',
        message: `${name} shows a key that known_hosts marks @revoked: ${shown}.`,
        remedy: 'Give the host a new key (ssh-keygen -A after removing the old one) and enter it in known_hosts.',
      })
  }
}
