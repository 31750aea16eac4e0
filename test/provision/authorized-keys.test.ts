import { expect, test } from 'vitest'
import { authorizedKeys, isKeyText } from '../../src/provision/authorized-keys.ts'

const keyOf = (kind: string): string => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(kind.length)
  return `${kind} ${Buffer.concat([length, Buffer.from(kind), Buffer.alloc(32, 7)]).toString('base64')}`
}
const key = keyOf('ssh-ed25519')

test.each([
  ['a key', key, [key]],
  ['a comment after it', `${key} alice@desk\n`, [`${key} alice@desk`]],
  ['options before it', `from="10.0.0.0/8, a b",no-pty ${key}`, [`from="10.0.0.0/8, a b",no-pty ${key}`]],
  [
    'a file of several',
    `# ours\n\n${key} a\r\n${keyOf('ssh-rsa')} b\n${key} a\n`,
    [`${key} a`, `${keyOf('ssh-rsa')} b`],
  ],
  ['a security key', keyOf('sk-ssh-ed25519@openssh.com'), [keyOf('sk-ssh-ed25519@openssh.com')]],
  ['ECDSA', keyOf('ecdsa-sha2-nistp256'), [keyOf('ecdsa-sha2-nistp256')]],
])('%s', (_, text, keys) => expect(authorizedKeys(text)).toEqual(keys))

test.each([
  ['nothing', ''],
  ['only comments', '# none\n'],
  ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY-----\n'],
  ['one line that is none', `${key}\nhello\n`],
  ['a key that was cut', key.slice(0, 20)],
  ['a key of another kind', `ssh-rsa ${key.split(' ')[1]}`],
  ['a kind that nobody knows', keyOf('ssh-dss')],
])('%s is refused', (_, text) => expect(authorizedKeys(text)).toBeUndefined())

test.each([
  [key, true],
  ['~/.ssh/fleet.pub', false],
  ['my keys/ssh-ed25519', false],
])('%s is a key and no file: %s', (text, is) => expect(isKeyText(text)).toBe(is))
