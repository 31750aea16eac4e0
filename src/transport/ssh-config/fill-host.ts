import type { GivenField, Host } from '../../inventory/host.ts'
import type { DefaultKeys } from './default-keys.ts'
import type { SshSettings } from './settings.ts'

/** What nobody gave is as ssh_config says; what it does not say stays as it is. */
export const fillHost = (host: Host, settings: SshSettings, defaultKeys: DefaultKeys): Host => {
  const { hostname, identitiesOnly, identityAgent, keepalive, options, ...said } = settings
  const offers: Partial<Record<GivenField, unknown>> = {
    address: hostname,
    port: said.port,
    user: said.user,
    identityFiles: said.identityFiles ?? (identitiesOnly ? defaultKeys.all : defaultKeys.open),
    certificateFiles: said.certificateFiles,
    knownHostsFiles: said.knownHostsFiles,
    hostKeyPolicy: said.hostKeyPolicy,
    hostKeyAlias: said.hostKeyAlias,
  }
  const taken = Object.entries(offers).filter(
    ([field, value]) => value !== undefined && host.given?.includes(field as GivenField) !== true,
  )
  return {
    ...host,
    ...(Object.fromEntries(taken) as Partial<Host>),
    // The inventory has no word for these.
    ...(identitiesOnly && { identitiesOnly }),
    ...(identityAgent !== undefined && { identityAgent }),
    ...(keepalive !== undefined && { keepalive }),
    sshOptions: options,
  }
}
