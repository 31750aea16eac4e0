import { readFile } from 'node:fs/promises'
import { InputError, type InputFault } from '../../errors.ts'
import { type Certificate, parseCertificate } from './certificate.ts'
import { readPublicKey } from './public-key-file.ts'

export interface CertificateFile {
  readonly file: string
  readonly certificate: Certificate
}

export type CertificateCache = Map<string, Promise<CertificateFile | InputFault | undefined>>

export interface CertificateFiles {
  /** Named in the inventory, or by ssh_config: they have to be there. */
  readonly named: readonly string[]
  /** Those that may lie beside these are used, as OpenSSH does. */
  readonly identityFiles: readonly string[]
}

/** The certificates in these files. Rejects with `key-unusable`, naming every file that is of no use. */
export const loadCertificates = async (
  { named, identityFiles }: CertificateFiles,
  cache: CertificateCache = new Map(),
): Promise<CertificateFile[]> => {
  const beside = identityFiles.map((file) => `${file.replace(/\.pub$/, '')}-cert.pub`)
  const results = await Promise.all(
    [...new Set([...named, ...beside])].map((file) => {
      const loading = cache.get(file) ?? loadCertificate(file)
      cache.set(file, loading)
      return loading.then((found) => found ?? (named.includes(file) ? missing(file) : undefined))
    }),
  )
  const faults = results.filter((result) => result !== undefined && 'message' in result)
  if (faults.length > 0) throw new InputError('key-unusable', faults)
  return results.filter((result) => result !== undefined && 'certificate' in result)
}

const loadCertificate = async (file: string): Promise<CertificateFile | InputFault | undefined> => {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return { file, message: `the certificate cannot be read: ${code}`, remedy: 'Correct its permissions.' }
  }
  const key = readPublicKey(text)
  const certificate = key && parseCertificate(key.blob)
  if (certificate) return { file, certificate }
  return {
    file,
    message: 'this is no certificate of a public key that drover knows',
    remedy: 'Have the key signed anew (ssh-keygen -s CA -I ID -n USER KEY.pub), or remove the file.',
  }
}

const missing = (file: string): InputFault => ({
  file,
  message: 'the certificate is not there',
  remedy: 'Correct the path, or leave it out.',
})
