// Secrets that a story plants, and the search for them: in every form that something may have put them into.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LabHost } from '../lab/host.ts'

/** Long enough that no part of it comes about by chance; its quotes and backslash are escaped by whatever encodes it. */
export const plant = (name: string): string => `Zq7"\\'${name}-9fK2-${name.split('').reverse().join('')}-xW`

/** The middle of a secret, without what is escaped, in each form that it can be found by. */
export const formsOf = (secret: string): readonly string[] => {
  const core = secret.slice(secret.indexOf("'") + 1)
  const bytes = Buffer.from(core)
  const aligned = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(4, -8),
  )
  return [
    core,
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    [...core].reverse().join(''),
    // Halves: cut at the end of a chunk, each still gives it away.
    core.slice(0, core.length / 2),
    core.slice(core.length / 2),
    ...aligned,
  ]
}

export interface Search {
  places: number
  readonly found: string[]
}

/** Files below the directories, temporary ones of the system among them. */
const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

export const searchText = (search: Search, place: string, text: string, forms: readonly string[]): void => {
  search.places += 1
  for (const form of forms) if (text.includes(form)) search.found.push(`${place}: ${form}`)
}

export const searchFiles = (search: Search, directory: string, forms: readonly string[]): void => {
  for (const file of filesBelow(directory)) searchText(search, file, readFileSync(file, 'latin1'), forms)
}

/** Every file of the host and every field of its journal; `except` are files that are to hold a secret. */
export const searchHost = async (
  search: Search,
  host: LabHost,
  forms: readonly string[],
  except: readonly string[],
): Promise<void> => {
  const said = await host.must(
    `export LC_ALL=C; cat >/dev/shm/forms
     find /boot /dev/shm /etc /home /opt /root /run /srv /tmp /usr/local /var -xdev -type f ! -path /dev/shm/forms -print0 >/dev/shm/places
     tr -cd '\\0' </dev/shm/places | wc -c
     xargs -0 grep -aloFf /dev/shm/forms -- </dev/shm/places 2>/dev/null
     journalctl -q -o export --all | wc -l
     journalctl -q -o export --all | grep -aoFf /dev/shm/forms | sed 's/^/journal: /' | sort -u
     rm -f /dev/shm/forms /dev/shm/places`,
    [],
    { stdin: `${forms.join('\n')}\n` },
  )
  for (const line of said.split('\n')) {
    if (/^\d+$/.test(line)) search.places += Number(line)
    else if (line !== '' && !except.includes(line)) search.found.push(`${host.name} ${line}`)
  }
}

/** Looks at all processes, over and over (with a pause, so as to leave a small machine to others), until told to stop: arguments and environments, as any root could. */
export const watchHost = (host: LabHost, { pauseS = 0 } = {}): { stop(): Promise<string> } => {
  const file = '/dev/shm/watched'
  const watching = host.sh(
    `: >${file}; i=0
     while [ ! -e ${file}.stop ] && [ $i -lt 6000 ]; do
       cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -v '^LAB_' >>${file}; i=$((i + 1))
       [ "$(wc -c <${file})" -lt 200000000 ] || break
       [ "$1" = 0 ] || sleep "$1"
     done`,
    [String(pauseS)],
    { timeoutS: 100 },
  )
  return {
    stop: async () => {
      await host.must(`: >${file}.stop`)
      await watching
      return host.must(`sort -u ${file}; rm -f ${file} ${file}.stop`)
    },
  }
}
