// What the lab takes from apt. It says so first, and asks on a terminal.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { withLock } from './lock.ts'
import { mustRun } from './processes.ts'

export interface Need {
  command: string
  packages: readonly string[]
}

export const NEEDS = {
  engine: { command: 'dockerd', packages: ['docker.io'] },
  rootfs: { command: 'mmdebstrap', packages: ['mmdebstrap', 'debian-archive-keyring'] },
  client: { command: 'ssh', packages: ['openssh-client'] },
  agent: { command: 'cc', packages: ['gcc', 'libc6-dev'] },
} satisfies Record<string, Need>

/** Install the packages of every command that is not on this machine. */
export async function installMissing(needs: readonly Need[], yes: boolean): Promise<void> {
  if (needs.every((need) => onPath(need.command))) return
  await withLock('apt', 900_000, async () => {
    const packages = needs.filter((need) => !onPath(need.command)).flatMap((need) => need.packages)
    if (packages.length > 0) await install(packages, yes)
  })
}

async function install(packages: readonly string[], yes: boolean): Promise<void> {
  const words = packages.join(' ')
  if (!onPath('apt-get') || process.getuid?.() !== 0) {
    throw new Error(
      `the lab needs ${words}, and it can install them only as root and with apt: install them yourself, or start a Docker engine`,
    )
  }
  process.stderr.write(`lab: will be installed with apt: ${words}\n`)
  await agree(words, yes)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await mustRun('apt-get', ['update', '-q'], { timeoutMs: 300_000, env })
  await mustRun('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], { timeoutMs: 600_000, env })
}

async function agree(words: string, yes: boolean): Promise<void> {
  if (yes || process.env.CI !== undefined) return
  if (!process.stdin.isTTY) throw new Error(`not installing ${words} unasked: run \`npm run lab -- prepare --yes\``)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await prompt.question('Install them? [y/N] ')
  prompt.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error(`${words} were refused; the lab cannot go on without them`)
}

/** /usr/sbin counts although a user's PATH may lack it: that is where Debian puts dockerd. */
function onPath(command: string): boolean {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].filter((folder) => folder !== '')
  return folders.some((folder) => existsSync(join(folder, command)))
}
