import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DroverError } from '../errors.ts'
import { quoted } from '../inventory/names.ts'
import { didYouMean, nearName } from '../inventory/near.ts'

const suffix = '.yaml'

/** The names of the playbooks in a directory, in order; none where there is no directory. */
export const listPlaybooks = (directory: string): string[] => {
  try {
    const names = readdirSync(directory, { withFileTypes: true }).filter((entry) => !entry.isDirectory())
    return names.flatMap(({ name }) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : [])).sort()
  } catch {
    return []
  }
}

export interface PlaybookPlaces {
  readonly shippedDir: string
  readonly cwd: string
}

/** A name without a slash and without .yaml or .yml is a playbook of drover's own, whatever lies in the directory. */
export const findPlaybook = (
  nameOrPath: string,
  { shippedDir, cwd }: PlaybookPlaces,
): { path: string; file: string } => {
  if (/\/|\.ya?ml$/.test(nameOrPath)) return { path: resolve(cwd, nameOrPath), file: nameOrPath }
  const names = listPlaybooks(shippedDir)
  const path = join(shippedDir, `${nameOrPath}${suffix}`)
  if (names.includes(nameOrPath)) return { path, file: path }
  const all = names.length === 0 ? '' : ` The playbooks are: ${names.join(', ')}.`
  throw new DroverError({
    code: 'playbook-not-found',
    message: `No playbook is called ${quoted(nameOrPath)}.`,
    remedy: `${didYouMean(nearName(nameOrPath, names), `For a file write a path, such as ./${nameOrPath}${suffix}.`)}${all}`,
  })
}
