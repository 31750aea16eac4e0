import { Secret } from '../secret.ts'
import { credentialsDirectory, firstBootDirectory } from '../tasks/agent/paths.ts'
import type { BootstrapScript } from './bootstrap-script.ts'
import { baseConfigText } from './config.ts'
import { envFile } from './env-file.ts'
import type { HostFile, Provisioned } from './host-files.ts'
import type { Provision } from './inputs.ts'
import { settings } from './settings.ts'
import type { AgentSource } from './source.ts'
import { baseConfig, environment, pemFile, pfxFile, script, secretFile } from './unit.ts'

export interface Ingredients {
  readonly provision: Provision
  readonly source: AgentSource
  readonly script: BootstrapScript
  /** Key and certificate of a service principal. */
  readonly certificate: Uint8Array | null
  readonly authorizedKeys: readonly string[]
  readonly merge: Secret | null
}

/** What lies on a host before its first boot (domain.md 10). */
export const layout = (given: Ingredients): Provisioned => {
  const { provision, source } = given
  const credential = credentialOf(given)
  const certificate = given.certificate === null || credential === null ? null : credential.path
  return {
    directories: [firstBootDirectory, ...(credential === null ? [] : [credentialsDirectory])].map((path) => ({
      path,
      mode: 0o700,
    })),
    files: [
      fileOf(script, 0o700, given.script.bytes),
      { ...closed(environment), content: envFile(settings({ provision, source, certificate })) },
      { ...closed(baseConfig), content: baseConfigText(provision) },
      ...(credential === null ? [] : [credential]),
    ],
    authorizedKeys: given.authorizedKeys,
    merge: given.merge,
  }
}

const closed = (path: string) => ({ path, mode: 0o600, encoding: 'utf8' }) as const

const credentialOf = ({ provision, certificate }: Ingredients): HostFile | null => {
  if (provision.sp_client_secret !== undefined) return { ...closed(secretFile), content: provision.sp_client_secret }
  if (certificate === null) return null
  return fileOf(isPem(certificate) ? pemFile : pfxFile, 0o600, certificate)
}

/** The agent tells a PFX by its name. */
const isPem = (bytes: Uint8Array): boolean => Buffer.from(bytes).includes('-----BEGIN ')

/** As text where that gives the same bytes again. */
const fileOf = (path: string, mode: number, bytes: Uint8Array): HostFile => {
  const buffer = Buffer.from(bytes)
  const text = buffer.toString('utf8')
  const isText = Buffer.from(text, 'utf8').equals(buffer) && !/[^\P{Cc}\n\t]|\uFEFF/u.test(text)
  return isText
    ? { path, mode, content: new Secret(text), encoding: 'utf8' }
    : { path, mode, content: new Secret(buffer.toString('base64')), encoding: 'base64' }
}
