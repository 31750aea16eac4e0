import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DroverError } from '../errors.ts'

/** The script that a host runs at its first boot. */
export interface BootstrapScript {
  readonly bytes: Uint8Array
  readonly sha256: string
  /** drover's own, or one of a release that is embedded as it is. */
  readonly isOwn: boolean
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

const part = (name: string): string => readFileSync(new URL(`bootstrap/${name}.sh`, import.meta.url), 'utf8')

/** All parts in one file: the first begins it, and its last line is what runs it, once all of it has been read. */
export const ownScriptText = (): string => {
  const main = part('main')
  const call = main.lastIndexOf('main "$@"')
  const parts = ['settings', 'install', 'config'].map((name) => part(name).replace(/^# shellcheck .*\n/, ''))
  return [main.slice(0, call), ...parts.map((text) => `${text}\n`), main.slice(call)].join('')
}

/** drover's own, and it says so itself, for whoever finds it on a host. */
export const ownScript = (version: string): BootstrapScript => {
  const text = ownScriptText()
  const end = text.indexOf('\n') + 1
  const mark = `# This is the bootstrap script of drover ${version}, and not that of a release of the agent.\n`
  const bytes = Buffer.from(`${text.slice(0, end)}${mark}${text.slice(end)}`)
  return { bytes, sha256: sha256(bytes), isOwn: true }
}

/** A release's, byte for byte (M9). */
export const releaseScript = (file: string, bytes: Uint8Array, wanted: string): BootstrapScript => {
  const found = sha256(bytes)
  if (found === wanted.slice(-64).toLowerCase()) return { bytes, sha256: found, isOwn: false }
  throw new DroverError({
    code: 'provision-invalid',
    message: `The bootstrap script ${file} is not the one that was meant: its SHA-256 is ${found}.`,
    remedy: 'Take it from the release again, or correct the digest, once you know why they differ.',
  })
}
