import { printable } from '../printable.ts'

/** Below this a secret would blot out half of every line and protect nothing. */
export const shortestSecret = 4

/** A line of a secret stands alone in diffs and logs; short ones are too often common words. */
const shortestLine = 8
const shortestCore = 8

/** Every form in which a secret is known to come back: as it is, by line, and as encoders and quoting leave it. */
export const secretForms = (secret: string): readonly string[] => {
  const lines = secret.split(/\r?\n/).map((line) => line.trim())
  const plain = [secret, secret.trim(), ...lines.filter((line) => line.length >= shortestLine)]
  const forms = plain.flatMap((text) => [text, ...escapedForms(text), ...base64Forms(text)])
  return forms.filter((form) => form.length >= shortestSecret)
}

const escapedForms = (text: string): readonly string[] => [
  JSON.stringify(text).slice(1, -1),
  text.replaceAll("'", "'\\''"),
  text.replaceAll("'", `'"'"'`),
  printable(text),
  ...(text.isWellFormed() ? [encodeURIComponent(text)] : []),
]

const base64Forms = (text: string): readonly string[] => {
  const bytes = Buffer.from(text)
  return [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url'), ...cores(bytes)]
}

// Within a longer base64 text a secret may begin at any of three places; the characters that its neighbours do not
// reach into are the same each time.
const cores = (bytes: Buffer): readonly string[] =>
  [0, 1, 2]
    .map((offset) => {
      const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64url')
      return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
    })
    .flatMap((core) => [core, core.replaceAll('-', '+').replaceAll('_', '/')])
    .filter((core) => core.length >= shortestCore)
