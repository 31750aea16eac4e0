import { execFile } from 'node:child_process'
import { DroverError } from '../../errors.ts'
import { printableText as printable } from '../../printable.ts'
import type { Environment } from './environment.ts'
import { noClient } from './open-master.ts'

// The first that marks the questions of a host as such, and knows each option that has to be set against the user's own.
const oldest = [8, 7] as const
const versionMs = 10_000

export interface ClientVersion {
  readonly major: number
  readonly minor: number
}

/** From what `ssh -V` says. Null: another program. */
export const parseVersion = (text: string): ClientVersion | null => {
  const [, major, minor] = /^OpenSSH_(?:for_Windows_)?(\d+)\.(\d+)/m.exec(text) ?? []
  return major === undefined || minor === undefined ? null : { major: Number(major), minor: Number(minor) }
}

export const isNewEnough = ({ major, minor }: ClientVersion): boolean =>
  major > oldest[0] || (major === oldest[0] && minor >= oldest[1])

/** Rejects where this machine has no ssh that drover can drive. */
export const checkClient = (env: Environment): Promise<void> =>
  new Promise((resolve, reject) => {
    execFile('ssh', ['-V'], { env, timeout: versionMs }, (error, stdout, stderr) => {
      if (error !== null && error.code === 'ENOENT') return reject(noClient(error as NodeJS.ErrnoException))
      const said = `${stderr}${stdout}`.trim()
      const version = parseVersion(said)
      if (version !== null && isNewEnough(version)) return resolve()
      reject(
        new DroverError({
          code: 'ssh-client-unusable',
          message: `The ssh of this machine is ${printable(said) || 'no OpenSSH'}; drover drives OpenSSH ${oldest.join('.')} and later.`,
          remedy: 'Install a newer OpenSSH and put it first in PATH, or take the other client with --transport ssh2.',
        }),
      )
    })
  })
