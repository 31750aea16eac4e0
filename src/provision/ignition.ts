import { Secret } from '../secret.ts'
import { base64Of, type Provisioned } from './host-files.ts'
import { ignitionFaults } from './ignition-schema.ts'
import { unitName, unitText } from './unit.ts'

/** Ignition 3.4.0 with everything in it: a host needs nothing but this, and the agent's archive. */
export const ignition = ({ directories, files, authorizedKeys, merge }: Provisioned): Secret => {
  const config = {
    ignition: {
      version: '3.4.0',
      ...(merge !== null && {
        config: { merge: [{ source: dataUrl(Buffer.from(merge.reveal()).toString('base64')) }] },
      }),
    },
    ...(authorizedKeys.length > 0 && { passwd: { users: [{ name: 'core', sshAuthorizedKeys: authorizedKeys }] } }),
    storage: {
      directories: directories.map(({ path, mode }) => ({ path, mode })),
      files: files.map((file) => ({
        path: file.path,
        overwrite: true,
        mode: file.mode,
        contents: { source: dataUrl(base64Of(file)) },
      })),
    },
    systemd: { units: [{ name: unitName, enabled: true, contents: unitText }] },
  }
  const faults = ignitionFaults(config)
  if (faults.length > 0) throw new Error(`what was rendered is no Ignition 3.4.0: ${faults.join('; ')}`)
  return new Secret(`${JSON.stringify(config, null, 2)}\n`)
}

const dataUrl = (base64: string): string => `data:;base64,${base64}`
