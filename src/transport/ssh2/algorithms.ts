import type { Algorithms, ServerHostKeyAlgorithm } from 'ssh2'

const hostKeyAlgorithms: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]

// An RSA key goes by three names; the one in known_hosts is that of the SHA-1 signature, which we do not take.
const keyTypeFor = (algorithm: string): string => (algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm)

/** Known key types first, as OpenSSH does: else a host with several keys might show the one that is not known. */
export const orderHostKeyAlgorithms = (knownTypes: readonly string[]): ServerHostKeyAlgorithm[] => {
  const isKnown = (algorithm: string) => knownTypes.includes(keyTypeFor(algorithm))
  return [...hostKeyAlgorithms.filter(isKnown), ...hostKeyAlgorithms.filter((algorithm) => !isKnown(algorithm))]
}

/** No group exchange: one of those handshakes holds the event loop for over a second (mscdex/ssh2#1386). No SHA-1. */
export const algorithmsFor = (knownTypes: readonly string[]): Algorithms => ({
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group14-sha256',
  ],
  serverHostKey: orderHostKeyAlgorithms(knownTypes),
  cipher: [
    'aes128-gcm@openssh.com',
    'aes256-gcm@openssh.com',
    'chacha20-poly1305@openssh.com',
    'aes256-ctr',
    'aes128-ctr',
  ],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
})
