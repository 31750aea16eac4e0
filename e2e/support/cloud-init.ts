// Does to a running host of the lab what cloud-init does with user-data at a first boot. cloud-init itself is in no image, and so is
// nothing that it could install packages from. It is strict: what it does not know, it refuses.
import { parse } from 'yaml'
import type { LabHost } from '../lab/host.ts'

interface UserData {
  readonly packages?: readonly string[]
  readonly bootcmd?: readonly (readonly string[])[]
  readonly write_files?: readonly {
    readonly path: string
    readonly owner?: string
    readonly permissions?: string
    readonly encoding?: string
    readonly content: string
  }[]
  readonly runcmd?: readonly (readonly string[])[]
  readonly ssh_authorized_keys?: readonly string[]
}

/** In cloud-init's order: early commands, files, keys, and in the end packages and commands. */
export const applyUserData = async (host: LabHost, text: string): Promise<void> => {
  if (!text.startsWith('#cloud-config\n')) throw new Error('user-data that does not say it is a cloud-config')
  // cloud-init reads YAML as PyYAML does: version 1.1, in which 0600 without quotes is a number.
  const { packages, bootcmd, write_files, runcmd, ssh_authorized_keys, ...strange } = parse(text, {
    version: '1.1',
  }) as UserData
  if (Object.keys(strange).length > 0) throw new Error(`the applier does not know ${Object.keys(strange).join(', ')}`)
  for (const command of bootcmd ?? []) await once(host, command)
  for (const file of write_files ?? []) {
    if (file.encoding !== 'b64' || typeof file.permissions !== 'string')
      throw new Error(`a file that is not base64, or has no mode in text: ${file.path}`)
    await host.put(file.path, Buffer.from(file.content, 'base64'), file.permissions)
    await host.must('chown "$2" "$1"', [file.path, file.owner ?? 'root:root'])
  }
  const keys = (ssh_authorized_keys ?? []).map((key) => `${key}\n`).join('')
  await host.must('cat >>/root/.ssh/authorized_keys', [], { stdin: keys })
  for (const name of packages ?? []) await host.must('command -v "$1"', [name])
  for (const command of runcmd ?? []) await host.must('exec "$@"', command)
}

/** `cloud-init-per once NAME COMMAND` runs the command, once. */
const once = async (host: LabHost, command: readonly string[]): Promise<void> => {
  const [program, frequency, name, ...rest] = command
  if (program !== 'cloud-init-per' || frequency !== 'once' || name === undefined || rest.length === 0)
    throw new Error(`a command at every boot: ${command.join(' ')}`)
  await host.must('exec "$@"', rest)
}
