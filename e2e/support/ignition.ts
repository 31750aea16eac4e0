// Does to a host of the lab what Ignition does to a disk before the first boot (rule M10). Ignition itself needs an initramfs. It is
// strict: what it does not know, it refuses, so that no story believes in something that was left out.
import { gunzipSync } from 'node:zlib'
import type { LabHost } from '../lab/host.ts'

interface Source {
  readonly source?: string
  readonly compression?: string
}
interface Node {
  readonly path: string
  readonly overwrite?: boolean
  readonly user?: { readonly id?: number; readonly name?: string }
  readonly group?: { readonly id?: number; readonly name?: string }
  readonly mode?: number
}
type Directory = Node
interface File extends Node {
  readonly contents?: Source
}
interface Unit {
  readonly name: string
  readonly enabled?: boolean
  readonly contents?: string
  readonly dropins?: readonly { readonly name: string; readonly contents?: string }[]
}
interface User {
  readonly name: string
  readonly sshAuthorizedKeys?: readonly string[]
}
export interface Ignition {
  readonly ignition: { readonly version: string; readonly config?: { readonly merge?: readonly Source[] } }
  readonly storage?: { readonly directories?: readonly Directory[]; readonly files?: readonly File[] }
  readonly systemd?: { readonly units?: readonly Unit[] }
  readonly passwd?: { readonly users?: readonly User[] }
}

/** What this applier understands; anything beside it is an error. */
const known: Readonly<Record<string, readonly string[]>> = {
  '': ['ignition', 'storage', 'systemd', 'passwd'],
  ignition: ['version', 'config'],
  config: ['merge'],
  source: ['source', 'compression'],
  storage: ['directories', 'files'],
  directory: ['path', 'overwrite', 'user', 'group', 'mode'],
  file: ['path', 'overwrite', 'user', 'group', 'mode', 'contents'],
  systemd: ['units'],
  unit: ['name', 'enabled', 'contents', 'dropins'],
  passwd: ['users'],
  user: ['name', 'sshAuthorizedKeys'],
}

const holdTo = (kind: string, value: object | undefined): void => {
  const strange = Object.keys(value ?? {}).filter((key) => !known[kind]?.includes(key))
  if (strange.length > 0) throw new Error(`the applier does not know ${strange.join(', ')} of ${kind || 'a config'}`)
}

const bytesOf = ({ source, compression }: Source): Buffer => {
  holdTo('source', { ...(source !== undefined && { source }), ...(compression !== undefined && { compression }) })
  if (source === undefined || source === '') return Buffer.alloc(0)
  const [, head = '', body = ''] = /^data:([^,]*),(.*)$/s.exec(source) ?? []
  if (!source.startsWith('data:') || !source.includes(',')) throw new Error(`no data: URL: ${source.slice(0, 60)}`)
  // Not decodeURIComponent's text: a file may hold any bytes.
  const bytes = head.endsWith(';base64') ? Buffer.from(decodeURIComponent(body), 'base64') : percentDecoded(body)
  if (compression === undefined || compression === '') return bytes
  if (compression !== 'gzip') throw new Error(`unknown compression ${compression}`)
  return gunzipSync(bytes)
}

const percentDecoded = (text: string): Buffer => {
  if (/%(?![0-9a-f]{2})/i.test(text)) throw new Error('a data: URL with a % that begins no pair of digits')
  const latin1 = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  if (/[^\0-\xff]/.test(latin1)) throw new Error('a data: URL with characters that are not escaped')
  return Buffer.from(latin1, 'latin1')
}

/** The config with all that it merges in; where both say something, the merged one wins. */
const resolved = (config: Ignition): Ignition => {
  holdTo('', config)
  holdTo('ignition', config.ignition)
  holdTo('config', config.ignition.config)
  return (config.ignition.config?.merge ?? [])
    .map((source) => resolved(JSON.parse(bytesOf(source).toString()) as Ignition))
    .reduce(over, config)
}

const over = (parent: Ignition, child: Ignition): Ignition => ({
  ignition: { version: parent.ignition.version },
  storage: {
    directories: joined('path', parent.storage?.directories, child.storage?.directories),
    files: joined('path', parent.storage?.files, child.storage?.files),
  },
  systemd: { units: joined('name', parent.systemd?.units, child.systemd?.units) },
  passwd: {
    users: joined('name', parent.passwd?.users, child.passwd?.users).map((user) => ({
      ...user,
      sshAuthorizedKeys: [parent, child].flatMap(
        (config) => config.passwd?.users?.find(({ name }) => name === user.name)?.sshAuthorizedKeys ?? [],
      ),
    })),
  },
})

const joined = <K extends string, T extends Readonly<Record<K, string>>>(
  key: K,
  parents: readonly T[] = [],
  children: readonly T[] = [],
): T[] => [
  ...parents.map((parent) => ({ ...parent, ...children.find((child) => child[key] === parent[key]) })),
  ...children.filter((child) => !parents.some((parent) => parent[key] === child[key])),
]

/** Write it all. Nothing is started: the next boot of the host is its first. */
export const applyIgnition = async (host: LabHost, config: Ignition): Promise<void> => {
  const { storage, systemd, passwd } = resolved(config)
  holdTo('storage', storage)
  holdTo('systemd', systemd)
  holdTo('passwd', passwd)
  for (const user of passwd?.users ?? []) await authorize(host, user)
  // Parents before what lies in them, as Ignition sorts them.
  for (const directory of [...(storage?.directories ?? [])].sort(byPath)) await makeDirectory(host, directory)
  for (const file of [...(storage?.files ?? [])].sort(byPath)) await writeFile(host, file)
  for (const unit of systemd?.units ?? []) await writeUnit(host, unit)
}

const byPath = (one: Node, other: Node): number => (one.path < other.path ? -1 : 1)
const ownerOf = ({ user, group }: Node): string => `${user?.id ?? user?.name ?? 0}:${group?.id ?? group?.name ?? 0}`
/** Modes are decimal numbers in the JSON. */
const modeOf = ({ mode }: Node, otherwise: number): string => (mode ?? otherwise).toString(8)

const makeDirectory = async (host: LabHost, directory: Directory): Promise<void> => {
  holdTo('directory', directory)
  await host.must(
    `umask 022
     if [ "$4" = yes ] && { [ -e "$1" ] || [ -L "$1" ]; }; then rm -rf -- "\${1:?}"; fi
     if [ -L "$1" ] || { [ -e "$1" ] && [ ! -d "$1" ]; }; then echo "$1 is there already" >&2; exit 1; fi
     mkdir -p -- "$1" && chown "$3" "$1" && chmod "$2" "$1"`,
    [directory.path, modeOf(directory, 0o755), ownerOf(directory), directory.overwrite ? 'yes' : 'no'],
  )
}

const writeFile = async (host: LabHost, file: File): Promise<void> => {
  holdTo('file', file)
  await host.must(
    `umask 022
     if [ -e "$1" ] || [ -L "$1" ]; then
       [ "$4" = yes ] || { echo "$1 is there already, and is not to be overwritten" >&2; exit 1; }
       rm -rf -- "\${1:?}"
     fi
     mkdir -p -- "$(dirname -- "$1")" && (umask 077 && cat >"$1") && chown "$3" "$1" && chmod "$2" "$1"`,
    [file.path, modeOf(file, 0o644), ownerOf(file), file.overwrite ? 'yes' : 'no'],
    { stdin: bytesOf(file.contents ?? {}) },
  )
}

const units = '/etc/systemd/system'

const writeUnit = async (host: LabHost, unit: Unit): Promise<void> => {
  holdTo('unit', unit)
  const { name, contents, dropins = [], enabled } = unit
  if (contents !== undefined && contents !== '') await host.put(`${units}/${name}`, contents)
  for (const dropin of dropins) await host.put(`${units}/${name}.d/${dropin.name}`, dropin.contents ?? '')
  // Ignition leaves a preset, which the first boot carries out: the links of [Install].
  if (enabled !== undefined) await host.must('systemctl --quiet "$2" "$1"', [name, enabled ? 'enable' : 'disable'])
}

const authorize = async (host: LabHost, user: User): Promise<void> => {
  holdTo('user', user)
  await host.must(
    `id "$1" >/dev/null 2>&1 || useradd --create-home "$1"
     home=$(getent passwd "$1" | cut -d: -f6) && [ -n "$home" ] && install -d -m 0700 -o "$1" "$home/.ssh" &&
     cat >>"$home/.ssh/authorized_keys" && chown "$1" "$home/.ssh/authorized_keys" && chmod 0600 "$home/.ssh/authorized_keys"`,
    [user.name],
    { stdin: (user.sshAuthorizedKeys ?? []).map((key) => `${key}\n`).join('') },
  )
}
