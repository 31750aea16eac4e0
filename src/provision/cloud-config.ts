import { stringify } from 'yaml'
import { Secret } from '../secret.ts'
import { base64Of, type Provisioned } from './host-files.ts'
import { unitName, unitText } from './unit.ts'

/** What the bootstrap needs and an image may lack; what else there is to install is the agent's own business. */
const packages = ['jq', 'tar']

/** User-data of cloud-init for the same files, directories and unit. */
export const cloudConfig = ({ directories, files, authorizedKeys }: Provisioned): Secret => {
  const root = 'root:root'
  const permissions = (mode: number): string => mode.toString(8).padStart(4, '0')
  const config = {
    packages,
    ...(authorizedKeys.length > 0 && { ssh_authorized_keys: [...authorizedKeys] }),
    // Before the files are written, and not at later boots: the bootstrap removes a directory that must not come back.
    bootcmd: directories.map(({ path, mode }) => [
      ...['cloud-init-per', 'once', `drover-${path.replaceAll(/[^a-z]+/g, '-').replace(/^-/, '')}`],
      ...['install', '-d', '-m', permissions(mode), path],
    ]),
    write_files: [
      ...files.map((file) => ({
        path: file.path,
        owner: root,
        permissions: permissions(file.mode),
        encoding: 'b64',
        content: base64Of(file),
      })),
      {
        path: `/etc/systemd/system/${unitName}`,
        owner: root,
        permissions: '0644',
        encoding: 'b64',
        content: Buffer.from(unitText).toString('base64'),
      },
    ],
    runcmd: [
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', '--now', '--no-block', unitName],
    ],
  }
  return new Secret(`#cloud-config\n${stringify(config, { version: '1.1', lineWidth: 0 })}`)
}
