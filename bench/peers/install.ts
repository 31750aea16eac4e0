// The tools that drover is measured against. They are installed for the bench alone, into a folder of its own.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Need } from '../../e2e/lab/install.ts'
import { mustRun } from '../../e2e/lab/processes.ts'
import { benchFolder } from '../place.ts'

export const pipNeed: Need = { command: 'pip3', packages: ['python3-pip'] }

/** Versions that work together: mitogen 0.3.54 is for ansible-core up to 2.19, and that is the last for the container's Python. */
const packages = {
  ansible: ['ansible-core==2.19.14', 'mitogen==0.3.54'],
  pyinfra: ['pyinfra==3.10.0'],
} as const

export type Peer = keyof typeof packages

/** The folder for PYTHONPATH, or why there is none. */
export type Installed = Readonly<Record<Peer, { readonly folder: string } | { readonly missing: string }>>

const folderOf = (peer: Peer): string =>
  join(benchFolder('peers'), [peer, ...packages[peer]].join(' ').replace(/[^\w.]+/g, '-'))

/** Says what pip will bring, and asks on a terminal. Without consent the rows against them are not measured. */
export const installPeers = async (yes: boolean): Promise<Installed> => {
  const peers = Object.keys(packages) as Peer[]
  const absent = peers.filter((peer) => !existsSync(folderOf(peer)))
  const words = absent.flatMap((peer) => packages[peer]).join(' ')
  if (absent.length > 0) process.stderr.write(`bench: will be installed with pip, for the bench only: ${words}\n`)
  const isAgreed = absent.length === 0 || yes || (await agree())
  const results: [Peer, Installed[Peer]][] = []
  for (const peer of peers) {
    results.push([peer, isAgreed ? await install(peer) : { missing: 'it was not to be installed' }])
  }
  return Object.fromEntries(results) as Record<Peer, Installed[Peer]>
}

const agree = async (): Promise<boolean> => {
  if (!process.stdin.isTTY) return false
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await prompt.question('Install them? [y/N] ')
  prompt.close()
  return /^y(es)?$/i.test(answer.trim())
}

/** Wheels for the container's Python, whatever this machine's is: they run only there. */
const install = async (peer: Peer): Promise<Installed[Peer]> => {
  const folder = folderOf(peer)
  if (existsSync(folder)) return { folder }
  const half = `${folder}.half`
  rmSync(half, { recursive: true, force: true })
  mkdirSync(half)
  const target = ['--python-version', '3.11', '--implementation', 'cp', '--only-binary=:all:']
  const platforms = ['manylinux_2_28', 'manylinux2014'].flatMap((name) => ['--platform', `${name}_${machine}`])
  try {
    const argv = ['install', '--quiet', '--no-input', '--target', half, ...target, ...platforms, ...packages[peer]]
    await mustRun('pip3', argv, { timeoutMs: 300_000 })
    renameSync(half, folder)
    return { folder }
  } catch (error) {
    return { missing: `pip could not install it: ${String(error).slice(-300)}` }
  }
}

const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

export const versionsOf = (installed: Installed): string[] =>
  (Object.keys(packages) as Peer[]).flatMap((peer) =>
    'folder' in installed[peer] ? packages[peer].map((name) => name.replace('==', ' ')) : [],
  )
