import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { DroverError } from '../errors.ts'
import { authorizedKeys, isKeyText } from '../provision/authorized-keys.ts'
import { type BootstrapScript, ownScript, releaseScript } from '../provision/bootstrap-script.ts'
import { type Merged, readMerge } from '../provision/merge.ts'
import type { CliContext } from './context.ts'

/** Reads files of this machine for the provisioning of hosts, each once. Throws `provision-invalid`. */
export interface ProvisionFiles {
  script(file: string | undefined, sha256: string | undefined): BootstrapScript
  certificate(file: string): Uint8Array
  keys(given: readonly string[]): readonly string[]
  merge(file: string): Merged
}

export const provisionFiles = ({ cwd, version }: Pick<CliContext, 'cwd' | 'version'>): ProvisionFiles => {
  const own = once(() => ownScript(version))
  const bytesOf = once((file: string) => read(resolve(cwd, file), file))
  const script = once((key: string) => {
    const [file = '', sha256 = ''] = JSON.parse(key) as string[]
    return releaseScript(file, bytesOf(file), sha256)
  })
  return {
    script: (file, sha256) =>
      file === undefined || sha256 === undefined ? own('') : script(JSON.stringify([file, sha256])),
    certificate: (file) => bytesOf(file),
    keys: (given) => [
      ...new Set(
        given.flatMap((one) => keysIn(one, isKeyText(one) ? one : Buffer.from(bytesOf(one)).toString('utf8'))),
      ),
    ],
    merge: (file) => {
      const found = readMerge(Buffer.from(bytesOf(file)).toString('utf8'))
      if ('text' in found) return found
      throw invalid(`${file}: ${found.message}`, found.remedy)
    },
  }
}

const once = <K, T>(make: (key: K) => T): ((key: K) => T) => {
  const known = new Map<K, T>()
  return (key) => {
    const value = known.get(key) ?? make(key)
    known.set(key, value)
    return value
  }
}

const read = (path: string, file: string): Uint8Array => {
  // The content in place of the path may be a private key, and no message may hold it.
  if (/[\r\n]|-----BEGIN/.test(file)) {
    throw invalid('What is given in place of a file is no path.', 'Put it into a file, and give the path of that.')
  }
  try {
    const bytes = readFileSync(path)
    if (bytes.length > 0) return bytes
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown reason'
    throw invalid(`The file ${file} cannot be read (${code}).`, 'Correct the path, or create the file.')
  }
  throw invalid(`The file ${file} is empty.`, 'Put into it what belongs there, or name another one.')
}

const keysIn = (given: string, text: string): readonly string[] => {
  const keys = authorizedKeys(text)
  if (keys !== undefined) return keys
  // Not what stands there: it may be a private key.
  const where = isKeyText(given) ? 'What is given as a public key' : `The file ${given}`
  throw invalid(
    `${where} holds something that is no public key.`,
    'Give lines as in a .pub file: ssh-ed25519 AAAA... name.',
  )
}

const invalid = (message: string, remedy: string): DroverError =>
  new DroverError({ code: 'provision-invalid', message, remedy })
