// Debian root file systems without a registry: mmdebstrap makes a tarball, the engine imports it. About 25 s each.
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { followed } from './build-image.ts'
import { docker, imageExists } from './docker.ts'
import { installMissing, NEEDS } from './install.ts'
import { mustRun } from './processes.ts'
import { recipeDigest, stateFolder } from './state.ts'

/**
 * A Debian release, or one with something added: RPM's tools, or every login shell that drover promises to work with, every
 * program that makes one root, and zstd.
 */
export type Release = 'bookworm' | 'trixie' | 'bookworm-dnf' | 'trixie-shells'

/** What drover asks of a host, and what a host of this product has. Each package more costs build time in CI. */
const PACKAGES = [
  'systemd',
  'systemd-sysv',
  'systemd-container',
  'dbus',
  'openssh-server',
  'sudo',
  'iproute2',
  'procps',
  'curl',
  'nftables',
  'jq',
]

/** The real dnf and rpm, which Debian packages. They bring Python, so only the image that needs them has them. */
const RPM_TOOLS = ['dnf', 'rpm', 'createrepo-c']

/** Beside dash and bash, which are there. */
const SHELLS = ['zsh', 'ksh93u+m', 'fish', 'tcsh']

/** Beside sudo. */
const BECOMERS = ['opendoas', 'sudo-rs']

const ADDED: Readonly<Record<Release, readonly string[]>> = {
  bookworm: [],
  trixie: [],
  'bookworm-dnf': RPM_TOOLS,
  'trixie-shells': [...SHELLS, ...BECOMERS, 'zstd'],
}

/** Documentation, translations and time zones are a third of the bytes, and no story reads them. */
const LEFT_OUT = [
  '/usr/share/doc/*',
  '/usr/share/man/*',
  '/usr/share/info/*',
  '/usr/share/locale/*',
  '/usr/share/lintian/*',
  '/usr/share/bash-completion/*',
]

export function rootfsName(release: Release): string {
  return `drover-lab/rootfs-${release}:${recipeDigest([], [release, ...packagesOf(release), ...LEFT_OUT])}`
}

/** Build a release's root file system if the engine has none of this recipe. */
export async function ensureRootfs(release: Release, yes: boolean): Promise<void> {
  if (await imageExists(rootfsName(release))) return
  await installMissing([NEEDS.rootfs], yes)
  await build(release, rootfsName(release))
}

async function build(release: Release, image: string): Promise<void> {
  const tarball = join(stateFolder(), `rootfs-${release}.tar`)
  process.stderr.write(`lab: making a ${release} root file system\n`)
  try {
    const suite = release.replace(/-.*/, '')
    const options = [
      '--quiet',
      '--variant=apt',
      `--include=${packagesOf(release).join(',')}`,
      ...LEFT_OUT.map((glob) => `--dpkgopt=path-exclude=${glob}`),
    ]
    await mustRun('mmdebstrap', [...options, suite, tarball, ...(await debianMirror())], { timeoutMs: 600_000 })
    await importImage(tarball, image)
  } finally {
    await rm(tarball, { force: true })
  }
}

function packagesOf(release: Release): string[] {
  return [...PACKAGES, ...ADDED[release]]
}

async function importImage(tarball: string, image: string): Promise<void> {
  const client = await docker()
  const [repo, tag] = image.split(':') as [string, string]
  // dockerode's types know only the form with a file name, but it passes a stream on as well.
  const progress = (await client.importImage(createReadStream(tarball) as unknown as string, {
    repo,
    tag,
  })) as NodeJS.ReadableStream
  await followed(progress)
  if (!(await imageExists(image))) throw new Error(`importing ${tarball} gave no image ${image}`)
}

/**
 * The Debian mirror that this machine's apt uses: mmdebstrap's own default need not be within reach. On a machine that is not Debian
 * there is none to be found, and that default is the best guess.
 */
async function debianMirror(): Promise<string[]> {
  const listed = await mustRun(
    'apt-get',
    ['indextargets', '--format', '$(ORIGIN) $(CODENAME) $(REPO_URI)', 'Created-By: Packages'],
    {
      timeoutMs: 30_000,
    },
  )
  const rows = listed
    .toString()
    .split('\n')
    .map((line) => line.split(' '))
  // Not the -updates and -security archives: these hold no whole release.
  const main = rows.find(
    ([origin, codename]) => origin === 'Debian' && codename !== undefined && !codename.includes('-'),
  )
  return main?.[2] === undefined ? [] : [main[2]]
}
