// Releases of the stand-in agent as a playbook's `agent` names them, whole ones and damaged ones.
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AgentBuild, buildAgent } from '../lab/agent/build.ts'
import { mustRun } from '../lab/processes.ts'

interface ReleaseSource {
  readonly file: string
  readonly sha256: string
}

/** What `-e '{"agent": ...}'` or an inventory takes. */
export interface ReleaseVar {
  readonly version: string
  readonly hostRootSince?: string
  readonly amd64?: ReleaseSource
  readonly arm64?: ReleaseSource
}

export interface ReleaseSpec extends AgentBuild {
  /** Default: v0.3.0, the first that the lab's agent knows it in. Null: the variable does not say. */
  hostRootSince?: string | null
}

/** Whose folder they are put into. */
type Lab = { readonly folder: string }

const member = 'aks-flex-node-linux-amd64'

/** A release, built and packed into the lab's folder: once, whoever asks for it at the same time. */
export const releaseVar = (lab: Lab, spec: ReleaseSpec): Promise<ReleaseVar> => {
  const key = JSON.stringify([lab.folder, spec])
  const release = packed.get(key) ?? packRelease(lab, spec)
  packed.set(key, release)
  return release
}

const packed = new Map<string, Promise<ReleaseVar>>()

const packRelease = async (lab: Lab, spec: ReleaseSpec): Promise<ReleaseVar> => {
  const folder = releaseFolder(lab, await buildAgent(spec))
  const file = join(folder, `${member}.tar.gz`)
  if (!existsSync(file)) await pack(file, folder, [member])
  return varOf(spec, sourceOf(file))
}

/** The same as a file of variables, for `-e @FILE`. */
export const releaseFile = async (lab: Lab, spec: ReleaseSpec): Promise<string> => {
  const file = join(lab.folder, `${spec.version}.json`)
  writeFileSync(file, `${JSON.stringify({ agent: await releaseVar(lab, spec) }, null, 2)}\n`)
  return file
}

/** Archives that must be refused before any host is touched, each of an otherwise good release. */
export const damages = ['truncated', 'two members', 'path member', 'wrong digest', 'wrong architecture'] as const

export const damagedReleaseVar = async (
  lab: Lab,
  spec: ReleaseSpec,
  damage: (typeof damages)[number],
): Promise<ReleaseVar> => {
  const good = releaseFolder(lab, await buildAgent(spec))
  const folder = `${good}-${damage.replaceAll(' ', '-')}`
  const file = join(folder, `${member}.tar.gz`)
  mkdirSync(join(folder, 'bin'), { recursive: true })
  copyFileSync(join(good, member), join(folder, member))
  switch (damage) {
    case 'truncated':
      await pack(file, folder, [member])
      truncateSync(file, Math.floor(readFileSync(file).length / 2))
      break
    case 'two members':
      writeFileSync(join(folder, 'install.sh'), 'echo never run\n')
      await pack(file, folder, [member, 'install.sh'])
      break
    case 'path member':
      copyFileSync(join(folder, member), join(folder, 'bin', member))
      await pack(file, folder, [`bin/${member}`])
      break
    case 'wrong digest':
      await pack(file, folder, [member])
      return varOf(spec, { file, sha256: '0'.repeat(64) })
    case 'wrong architecture':
      writeFileSync(join(folder, member), arm64Header())
      await pack(file, folder, [member])
      break
  }
  return varOf(spec, sourceOf(file))
}

export const agentArgs = (agent: ReleaseVar): string[] => ['-e', JSON.stringify({ agent })]

/** Holds the binary under the name that it has in an archive. */
const releaseFolder = (lab: Lab, binary: string): string => {
  const folder = join(lab.folder, 'releases', digestOf(binary).slice(0, 12))
  mkdirSync(folder, { recursive: true })
  copyFileSync(binary, join(folder, member))
  return folder
}

const pack = async (file: string, folder: string, members: readonly string[]): Promise<void> => {
  mkdirSync(dirname(file), { recursive: true })
  await mustRun('tar', ['-czf', file, '-C', folder, '--', ...members], { timeoutMs: 60_000 })
}

const varOf = ({ version, hostRootSince = 'v0.3.0' }: ReleaseSpec, amd64: ReleaseSource): ReleaseVar => ({
  version,
  ...(hostRootSince !== null && { hostRootSince }),
  amd64,
})

const sourceOf = (file: string): ReleaseSource => ({ file, sha256: digestOf(file) })

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** An ELF header and nothing behind it: 64 bit, little endian, an executable for machine 183 (AArch64). */
const arm64Header = (): Buffer => {
  const header = Buffer.alloc(64)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(183, 18)
  header.writeUInt32LE(1, 20)
  header.writeUInt16LE(64, 52)
  return header
}
