import { Scalar, stringify } from 'yaml'
import { Secret } from '../secret.ts'
import { base64Of, type HostFile, type Provisioned } from './host-files.ts'
import { unitName, unitText } from './unit.ts'

/** What Butane makes the same Ignition of as `ignition` writes; for people to read, change and render again. */
export const butane = ({ directories, files, authorizedKeys, merge }: Provisioned): Secret => {
  const config = {
    variant: 'flatcar',
    version: '1.1.0',
    ...(merge !== null && { ignition: { config: { merge: [{ inline: scalar(merge.reveal()) }] } } }),
    ...(authorizedKeys.length > 0 && {
      passwd: { users: [{ name: 'core', ssh_authorized_keys: [...authorizedKeys] }] },
    }),
    storage: {
      directories: directories.map(({ path, mode }) => ({ path, mode: octal(mode) })),
      files: files.map((file) => ({
        path: file.path,
        overwrite: true,
        mode: octal(file.mode),
        contents: contents(file),
      })),
    },
    systemd: { units: [{ name: unitName, enabled: true, contents: unitText }] },
  }
  // Butane reads YAML 1.1 in this: what it would take for a number or a truth stands in quotes.
  return new Secret(stringify(config, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }))
}

const contents = (file: HostFile): object =>
  file.encoding === 'utf8' ? { inline: scalar(file.content.reveal()) } : { source: `data:;base64,${base64Of(file)}` }

/** As a block for people where every reader of YAML sees the same in it, or else in quotes. */
const scalar = (text: string): Scalar => {
  const isBlock = /^\S.*\S\n$/s.test(text) && !/^[ \t]+$/m.test(text)
  return Object.assign(new Scalar(text), { type: isBlock ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE })
}

const octal = (mode: number): Scalar => Object.assign(new Scalar(mode), { format: 'OCT' })
