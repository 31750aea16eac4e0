import type { ParsedKey } from 'ssh2'
import { fingerprintOf } from '../host-keys/host-key.ts'
import { type AgentIdentity, signByAgent } from './agent.ts'
import {
  type Certificate,
  certificateFlaw,
  certificateWords,
  isCertificateType,
  parseCertificate,
} from './certificate.ts'
import type { CertificateFile } from './certificate-files.ts'
import type { LoadedKey } from './keys.ts'
import { offerKey, type PublicKeyOffer } from './public-key-offer.ts'
import { signatureAlgorithm, signatureOf } from './signature.ts'

/** One key to log in with. */
export interface Credential {
  readonly label: string
  readonly key: ParsedKey
  /** Named by the inventory or the command line, and not just found in ssh-agent. */
  readonly isConfigured: boolean
  readonly certificate?: Certificate
}

export interface CredentialSources {
  readonly keys: readonly LoadedKey[]
  readonly certificates: readonly CertificateFile[]
  readonly agentKeys: readonly AgentIdentity[]
  readonly identitiesOnly: boolean
  readonly now: Date
}

export interface Credentials {
  /** In the order in which they are offered. */
  readonly usable: readonly Credential[]
  /** What was found and is not offered, and why. */
  readonly unusable: readonly string[]
}

/** The configured keys in their order, each with its certificates before it; then what else ssh-agent holds. */
export const listCredentials = (sources: CredentialSources): Credentials => {
  const { keys, agentKeys, identitiesOnly, now } = sources
  const certificates = [...sources.certificates.map(fromFile), ...agentKeys.flatMap(fromAgent)]
  const flawed = certificates.filter(({ certificate }) => certificateFlaw(certificate, now) !== null)
  const sound = certificates.filter((each) => !flawed.includes(each))
  const signerOf = (blob: Buffer): LoadedKey | AgentIdentity | undefined =>
    keys.find((key) => key.blob.equals(blob)) ?? agentKeys.find((held) => held.blob.equals(blob))

  const certified = (each: FoundCertificate, isConfigured: boolean): Credential[] => {
    const signer = each.held ?? signerOf(each.certificate.publicBlob)
    return signer === undefined ? [] : [certificateCredential(each, { signer, isConfigured })]
  }
  const configured = keys.flatMap((loaded) => [
    ...sound
      .filter(({ certificate }) => certificate.publicBlob.equals(loaded.blob))
      .flatMap((each) => certified(each, true)),
    keyCredential(loaded),
  ])
  const isConfigured = (blob: Buffer): boolean => keys.some((key) => key.blob.equals(blob))
  const loose = sound.filter(({ certificate }) => !isConfigured(certificate.publicBlob))
  const plain = agentKeys.filter(({ blob, type }) => !isConfigured(blob) && !isCertificateType(type))
  return {
    usable: [
      ...configured,
      // A certificate that somebody named is configured, even where its key is only in ssh-agent.
      ...loose.filter(({ held }) => held === undefined).flatMap((each) => certified(each, true)),
      ...(identitiesOnly
        ? []
        : [
            ...loose.filter(({ held }) => held !== undefined).flatMap((each) => certified(each, false)),
            ...plain.map((held) => agentCredential(held, 'ssh-agent', false)),
          ]),
    ],
    unusable: flawed.map(
      ({ label, certificate }) => `${label} (${certificateWords(certificate)}): ${certificateFlaw(certificate, now)}`,
    ),
  }
}

interface FoundCertificate {
  readonly label: string
  readonly certificate: Certificate
  /** ssh-agent has it together with its key. */
  readonly held?: AgentIdentity
}

const fromFile = ({ file, certificate }: CertificateFile): FoundCertificate => ({ label: file, certificate })

const fromAgent = (held: AgentIdentity): FoundCertificate[] => {
  const certificate = isCertificateType(held.type) ? parseCertificate(held.blob) : null
  return certificate === null ? [] : [{ label: 'certificate in ssh-agent', certificate, held }]
}

const keyCredential = (loaded: LoadedKey): Credential => {
  if (loaded.via === 'agent') return agentCredential(loaded.identity, `${loaded.file} by ssh-agent`, true)
  const { file, key, blob } = loaded
  return { label: `${file} (${key.type} ${fingerprintOf(blob)})`, isConfigured: true, key }
}

const agentCredential = (held: AgentIdentity, source: string, isConfigured: boolean): Credential => ({
  label: `${source} (${held.type} ${fingerprintOf(held.blob)})`,
  isConfigured,
  key: offerKey({ ...held, sign: (data, algorithm) => signByAgent(held, data, algorithm) }),
})

const certificateCredential = (
  { label, certificate }: FoundCertificate,
  { signer, isConfigured }: { readonly signer: LoadedKey | AgentIdentity; readonly isConfigured: boolean },
): Credential => ({
  label: `${label} (certificate ${certificateWords(certificate)})`,
  isConfigured,
  certificate,
  key: offerKey({
    type: certificate.type,
    blob: certificate.blob,
    algorithm: certificate.type.replace('ssh-rsa', signatureAlgorithm('ssh-rsa')),
    sign: signWith(signer),
  }),
})

const signWith = (signer: LoadedKey | AgentIdentity): PublicKeyOffer['sign'] => {
  if ('socket' in signer) return (data, algorithm) => signByAgent(signer, data, algorithm)
  if (signer.via === 'agent') return signWith(signer.identity)
  return async (data) => signatureOf(signer.key, data)
}
