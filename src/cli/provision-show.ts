import { relative } from 'node:path'
import { printable } from '../printable.ts'
import { jsonText } from '../report/json-text.ts'
import type { Secret } from '../secret.ts'
import type { CliContext } from './context.ts'
import { createLog } from './log.ts'
import { type ProvisionedHost, type ProvisionOptions, prepareProvision } from './provision.ts'
import { openProvisionDirectory } from './provision-directory.ts'
import { hostList } from './provision-faults.ts'

/** One file for each host. */
interface Format {
  readonly kind: string
  readonly ending: string
  readonly render: (host: ProvisionedHost['provisioned']) => Secret
}

interface Verb {
  readonly name: string
  readonly isImage: boolean
  readonly formats: readonly Format[]
}

interface Written {
  readonly host: string
  readonly kind: string
  readonly file: string
  readonly sha256: string
  readonly script: { readonly own: boolean; readonly sha256: string }
}

/** Renders for all hosts first, and writes only then. Touches no host. */
export const provision = async (context: CliContext, options: ProvisionOptions, verb: Verb): Promise<number> => {
  const log = createLog(context, options)
  const { hosts, warnings } = await prepareProvision(context, options, verb)
  const rendered = hosts.flatMap(({ name, script, provisioned }) =>
    verb.formats.map(({ kind, ending, render }) => ({ name, script, kind, ending, content: render(provisioned) })),
  )
  const directory = openProvisionDirectory({
    out: options.out,
    cwd: context.cwd,
    hosts: hosts.map(({ name }) => name),
    endings: verb.formats.map(({ ending }) => ending),
    force: options.force === true,
  })
  const all = [...warnings, ...tooLong(rendered)]
  for (const warning of all) log.warn(warning)
  const files: Written[] = []
  for (const { name, script, kind, ending, content } of rendered) {
    const file = directory.fileOf(name, ending)
    const sha256 = await directory.store(file, content)
    files.push({ host: name, kind, file, sha256, script: { own: script.isOwn, sha256: script.sha256 } })
  }
  const notes = notesOf(hosts)
  if (options.output === 'json') {
    context.stdout.write(jsonText({ schemaVersion: 1, directory: directory.path, files, warnings: all, notes }))
    return 0
  }
  const line = ({ host, kind, file, script }: Written): string =>
    `${shortest(context, file)}  ${kind} of ${host}, bootstrap script ${script.own ? "of drover's own" : 'of a release'}`
  context.stdout.write(files.map((file) => `${printable(line(file))}\n`).join(''))
  context.stderr.write(notes.map((note) => `drover: ${printable(note)}\n`).join(''))
  return 0
}

/** More than a cloud takes, and it would say so only when the host is to be made. */
const tooLong = (rendered: readonly { readonly name: string; readonly ending: string; readonly content: Secret }[]) => {
  const hosts = rendered
    .filter(({ ending, content }) => ending !== '.bu' && Buffer.byteLength(content.reveal()) > customDataLimit)
    .map(({ name }) => name)
  if (hosts.length === 0) return []
  return [`the file is larger than the 64 KiB of custom data that Azure takes for a host (${hostList(hosts)})`]
}

const customDataLimit = 65_535

const notesOf = (hosts: readonly ProvisionedHost[]): readonly string[] => [
  'The files are as secret as what they were made of: tokens, credentials and signed URLs are in them. Keep them so, and remove them when the hosts are made.',
  ...(hosts.some(({ script }) => script.isOwn)
    ? ["The bootstrap script is drover's own. To embed a release's, unchanged: --bootstrap-script and its digest."]
    : []),
  'The version of the agent holds only for the making of a host: one that is made again from these files later needs an upgrade to the version of its pool.',
]

/** As it can be typed in the directory that drover was started in. */
const shortest = ({ cwd }: CliContext, path: string): string => {
  const below = relative(cwd, path)
  return below === '' || below.startsWith('..') ? path : below
}
