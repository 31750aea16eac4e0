import { describe, expect, test } from 'vitest'
import type { Host } from '../../src/inventory/host.ts'
import { type Choice, type ChoiceFacts, calledFor, whyForeignToSsh2 } from '../../src/transport/called-for.ts'
import { fakeHost } from './fake-host.ts'

const nothing: ChoiceFacts = { unusableKeys: [], isAuthorityOnly: false, hasTicket: false }
const destination = 'web1'
const ssh = (options: Omit<NonNullable<Host['sshOptions']>, 'destination'>): Partial<Host> => ({
  sshOptions: { destination, ...options },
})

const table: readonly [
  what: string,
  host: Partial<Host>,
  facts: Partial<ChoiceFacts>,
  choice: Choice['transport'],
  because?: RegExp,
][] = [
  ['nothing in particular', {}, {}, 'ssh2'],
  ['an ssh_config that asks for nothing more', ssh({}), {}, 'ssh2'],
  [
    'the inventory says ssh2, whatever the host wants',
    { transport: 'ssh2', ...ssh({ proxyCommand: 'x' }) },
    {},
    'ssh2',
  ],
  ['the inventory says openssh', { transport: 'openssh' }, {}, 'openssh'],
  ['auto, and nothing in particular', { transport: 'auto' }, {}, 'ssh2'],
  ['a ProxyCommand', ssh({ proxyCommand: 'nc %h %p' }), {}, 'openssh', /ProxyCommand/],
  ['Kerberos and a ticket', ssh({ gssapi: true }), { hasTicket: true }, 'openssh', /Kerberos/],
  ['Kerberos without a ticket', ssh({ gssapi: true }), {}, 'ssh2'],
  ['a ticket alone', {}, { hasTicket: true }, 'ssh2'],
  ['PKCS#11', ssh({ pkcs11Provider: '/lib/x.so' }), {}, 'openssh', /PKCS11Provider/],
  ['another security key provider', ssh({ securityKeyProvider: '/lib/x.so' }), {}, 'openssh', /SecurityKeyProvider/],
  [
    'post-quantum key exchange only',
    ssh({ kexAlgorithms: ['mlkem768x25519-sha256', 'sntrup761x25519-sha512'] }),
    {},
    'openssh',
    /KexAlgorithms/,
  ],
  ['key exchange that both speak', ssh({ kexAlgorithms: ['mlkem768x25519-sha256', 'curve25519-sha256'] }), {}, 'ssh2'],
  [
    'host certificates only',
    ssh({ hostKeyAlgorithms: ['ssh-ed25519-cert-v01@openssh.com'] }),
    {},
    'openssh',
    /HostKeyAlgorithms/,
  ],
  ['a cipher of old', ssh({ ciphers: ['aes256-cbc'] }), {}, 'openssh', /Ciphers/],
  ['a security key', {}, { unusableKeys: ['/k/sk is that of a security key'] }, 'openssh', /security key/],
  ['a host certificate', {}, { isAuthorityOnly: true }, 'openssh', /@cert-authority/],
  ['a host certificate that nobody checks', { hostKeyPolicy: 'off' }, { isAuthorityOnly: true }, 'ssh2'],
]

describe('the client of a host', () => {
  test.each(table)('%s', (_, host, facts, transport, because) => {
    const choice = calledFor(fakeHost(host), { ...nothing, ...facts })
    expect(choice.transport).toBe(transport)
    if (because === undefined) expect(choice.because).toBeUndefined()
    else expect(choice.because).toMatch(because)
  })
})

test.each([
  ['The SSH handshake with h port 22 failed: Handshake failed: no matching key exchange algorithm.', true],
  ['The SSH handshake with h port 22 failed: Handshake failed: no matching host key format.', true],
  ['The SSH handshake with h port 22 failed: Handshake failed: no matching C->S cipher.', true],
  ['The SSH handshake with h port 22 failed: it closed the connection.', false],
])('%s', (message, isForeign) => expect(whyForeignToSsh2(message) !== undefined).toBe(isForeign))
