import { WireReader, wireString } from './wire.ts'

/** An OpenSSH certificate, as far as its holder has to know it: the server alone judges the signature. */
export interface Certificate {
  /** `ssh-ed25519-cert-v01@openssh.com`, say. */
  readonly type: string
  readonly blob: Buffer
  /** The public key that it certifies, as that key would be offered without it. */
  readonly publicBlob: Buffer
  readonly isForUser: boolean
  readonly keyId: string
  readonly principals: readonly string[]
  /** Seconds since 1970; null: for ever. */
  readonly validAfter: number
  readonly validBefore: number | null
}

const suffix = '-cert-v01@openssh.com'
const userCertificate = 1
const forever = 0xffff_ffff_ffff_ffffn

/** How many fields make up the public key, between the nonce and the serial number. */
const keyFields: Readonly<Record<string, number>> = {
  'ssh-ed25519': 1,
  'ssh-rsa': 2,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
  'sk-ssh-ed25519@openssh.com': 2,
  'sk-ecdsa-sha2-nistp256@openssh.com': 3,
}

/** Of a key whose own type has a domain, the certificate's type has it at the end. */
const certifiedType = (type: string): string => {
  const name = type.slice(0, -suffix.length)
  return name.startsWith('sk-') ? `${name}@openssh.com` : name
}

export const isCertificateType = (type: string): boolean => type.endsWith(suffix)

/** The certificate in this blob; null where there is none that can be understood. */
export const parseCertificate = (blob: Buffer): Certificate | null => {
  try {
    const reader = new WireReader(blob)
    const type = reader.text()
    const fieldCount = isCertificateType(type) ? keyFields[certifiedType(type)] : undefined
    if (fieldCount === undefined) return null
    reader.bytes() // the nonce
    const fields = Array.from({ length: fieldCount }, () => reader.bytes())
    reader.uint64() // the serial number
    const isForUser = reader.uint32() === userCertificate
    const keyId = reader.text()
    const principals = textsIn(reader.bytes())
    const [validAfter, validBefore] = [reader.uint64(), reader.uint64()]
    return {
      type,
      blob,
      publicBlob: Buffer.concat([certifiedType(type), ...fields].map(wireString)),
      isForUser,
      keyId,
      principals,
      validAfter: Number(validAfter),
      validBefore: validBefore === forever ? null : Number(validBefore),
    }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const textsIn = (bytes: Buffer): string[] => {
  const reader = new WireReader(bytes)
  const texts: string[] = []
  while (!reader.isAtEnd) texts.push(reader.text())
  return texts
}

/** Why a server would refuse the certificate whatever it trusts; null: nothing is known against it. */
export const certificateFlaw = (certificate: Certificate, now: Date): string | null => {
  const seconds = now.getTime() / 1000
  const { isForUser, validAfter, validBefore } = certificate
  if (!isForUser) return 'it is the certificate of a host, not of a user'
  if (seconds < validAfter) return `it is valid only from ${moment(validAfter)}`
  if (validBefore !== null && seconds >= validBefore) return `it was valid until ${moment(validBefore)}`
  return null
}

/** What a certificate says of itself, in a few words for an error. */
export const certificateWords = ({ keyId, principals, validAfter, validBefore }: Certificate): string => {
  const until = validBefore === null ? 'for ever' : `until ${moment(validBefore)}`
  const from = validAfter === 0 ? '' : `from ${moment(validAfter)} `
  return `"${keyId}" for ${principals.length === 0 ? 'any user' : principals.join(', ')}, valid ${from}${until}`
}

// Certificates may name years that no Date holds.
const moment = (seconds: number): string => {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? `second ${seconds}` : date.toISOString().replace('.000Z', 'Z')
}
