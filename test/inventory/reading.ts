import { InputError, type InputFault } from '../../src/errors.ts'
import type { Host, Inventory } from '../../src/inventory/host.ts'
import { readInventory } from '../../src/inventory/read.ts'

const notFound = (): never => {
  throw Object.assign(new Error('not there'), { code: 'ENOENT' })
}

export const filesOf =
  (files: Readonly<Record<string, string | Uint8Array>>) =>
  (path: string): Uint8Array =>
    Buffer.from(files[path.replace('/here/', '')] ?? notFound())

export const optionsWith = (files: Readonly<Record<string, string | Uint8Array>>) => ({
  defaultUser: 'me',
  cwd: '/here',
  home: '/home/me',
  readFile: filesOf(files),
})

export const read = (text: string, ...more: string[]): Inventory =>
  readInventory(['hosts.yaml', ...more], optionsWith({ 'hosts.yaml': text }))

export const inputError = (run: () => unknown): InputError => {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof InputError) return thrown
    throw thrown
  }
  throw new Error('Expected an InputError.')
}

export const faultsOf = (text: string, ...more: string[]): readonly InputFault[] =>
  inputError(() => read(text, ...more)).faults

/** `line:column message` is what most tests want to see of a fault. */
export const shown = (faults: readonly InputFault[]): string[] =>
  faults.map(({ line, column, message }) => `${line}:${column} ${message}`)

export const hostNamed = (inventory: Inventory, name: string): Host => {
  const host = inventory.hosts.find((candidate) => candidate.name === name)
  if (host === undefined) throw new Error(`no host ${name}`)
  return host
}

export const names = (hosts: readonly Host[]): string[] => hosts.map((host) => host.name)
