/** Of OpenSSH's `authorized_keys`: options may stand before the kind, a comment after the key. */
const line =
  /^(?:.*\s)?((?:sk-)?(?:ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp(?:256|384|521))(?:@openssh\.com)?)\s+([A-Za-z0-9+/]+={0,2})(?:\s.*)?$/

/** Whether a text is a key and not the name of a file that holds some. */
export const isKeyText = (text: string): boolean => /\s/.test(text.trim()) && line.test(text.trim())

/** The keys of a `.pub` or `authorized_keys` file, each once; undefined: something else is in it, such as a private key. */
export const authorizedKeys = (text: string): readonly string[] | undefined => {
  const lines = text
    .split(/\r?\n/)
    .map((each) => each.trim())
    .filter((each) => each !== '' && !each.startsWith('#'))
  return lines.length > 0 && lines.every(isKey) ? [...new Set(lines)] : undefined
}

/** The key names its own kind, so one that was cut or mixed up is seen. */
const isKey = (text: string): boolean => {
  const [, kind = '', base64 = ''] = line.exec(text) ?? []
  const bytes = Buffer.from(base64, 'base64')
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE(0)
  return kind !== '' && bytes.length > 4 + length && bytes.subarray(4, 4 + length).toString('latin1') === kind
}
