// The lab's images: stand-ins made from Debian. They are called what they are: rhel9-like is not RHEL.
import { join } from 'node:path'
import { buildImage } from './build-image.ts'
import { docker, imageExists } from './docker.ts'
import { withLock } from './lock.ts'
import { ensureRootfs, type Release, rootfsName } from './rootfs.ts'
import { labSources, recipeDigest } from './state.ts'

export type ImageName =
  | 'rhel9-like'
  | 'rhel9-like-bare'
  | 'ubuntu-like'
  | 'ubuntu-like-shells'
  | 'acl-like'
  | 'acl-like-no-variant'

interface Recipe {
  dockerfile: string
  /** Its parent; a release means that release's base. */
  from?: Release | ImageName
  /** Its parent, for a base. */
  rootfs?: Release
}

const RECIPES: Record<ImageName, Recipe> = {
  'rhel9-like': { dockerfile: 'rhel9-like/Dockerfile', from: 'bookworm' },
  'rhel9-like-bare': { dockerfile: 'rhel9-like-bare/Dockerfile', from: 'bookworm-dnf' },
  'ubuntu-like': { dockerfile: 'ubuntu-like/Dockerfile', from: 'trixie' },
  'ubuntu-like-shells': { dockerfile: 'ubuntu-like/Dockerfile', from: 'trixie-shells' },
  'acl-like': { dockerfile: 'acl-like/Dockerfile', from: 'trixie' },
  'acl-like-no-variant': { dockerfile: 'acl-like/no-variant.Dockerfile', from: 'acl-like' },
}

/** The real distributions, for DROVER_LAB_REGISTRY_IMAGES=1. */
const REGISTRY: Partial<Record<ImageName, string>> = {
  'rhel9-like': 'registry/rhel9.Dockerfile',
  'ubuntu-like': 'registry/ubuntu.Dockerfile',
}

export const IMAGE_NAMES = Object.keys(RECIPES) as ImageName[]

const context = join(labSources, 'images')

/** An image's full name. The tag is a digest of all that goes into it, so a changed recipe is another image and is built anew. */
export function imageName(name: ImageName): string {
  return tagged(`drover-lab/${name}`, recipeOf(name))
}

/** Build those that the engine has not. Two at once, one per Debian release: mmdebstrap waits for the network and for one core in turn. */
export async function ensureImages(names: readonly ImageName[], options: { yes?: boolean } = {}): Promise<void> {
  const present = await Promise.all(names.map((name) => imageExists(imageName(name))))
  if (!present.includes(false)) return
  await withLock('images', 900_000, async () => {
    const underWay = new Map<string, Promise<string>>()
    const once = (name: Release | ImageName): Promise<string> => {
      const known =
        underWay.get(name) ?? (isRelease(name) ? ensureBase(name, options.yes ?? false) : ensureImage(name, once))
      underWay.set(name, known)
      return known
    }
    await Promise.all(names.map(once))
  })
}

async function ensureImage(name: ImageName, parent: (name: Release | ImageName) => Promise<string>): Promise<string> {
  const recipe = recipeOf(name)
  if (recipe.from !== undefined) await parent(recipe.from)
  return ensureBuilt(imageName(name), recipe)
}

async function ensureBase(release: Release, yes: boolean): Promise<string> {
  await ensureRootfs(release, yes)
  return ensureBuilt(baseName(release), baseRecipe(release))
}

async function ensureBuilt(image: string, recipe: Recipe): Promise<string> {
  if (await imageExists(image)) return image
  process.stderr.write(`lab: building ${image}\n`)
  await buildImage({
    context,
    dockerfile: recipe.dockerfile,
    image,
    buildArgs: argumentsOf(recipe),
    online: recipe.from === undefined,
  })
  return image
}

function recipeOf(name: ImageName): Recipe {
  const registry = REGISTRY[name]
  return process.env.DROVER_LAB_REGISTRY_IMAGES === '1' && registry !== undefined
    ? { dockerfile: registry }
    : RECIPES[name]
}

function baseName(release: Release): string {
  return tagged(`drover-lab/base-${release}`, baseRecipe(release))
}

function baseRecipe(release: Release): Recipe {
  return { dockerfile: 'base.Dockerfile', rootfs: release }
}

function argumentsOf({ from, rootfs }: Recipe): Record<string, string> {
  if (rootfs !== undefined) return { ROOTFS: rootfsName(rootfs) }
  if (from === undefined) return {}
  return { BASE: isRelease(from) ? baseName(from) : imageName(from) }
}

function tagged(repository: string, recipe: Recipe): string {
  return `${repository}:${recipeDigest([context], [recipe.dockerfile, ...Object.values(argumentsOf(recipe))])}`
}

function isRelease(name: Release | ImageName): name is Release {
  return name === 'bookworm' || name === 'trixie' || name === 'bookworm-dnf' || name === 'trixie-shells'
}

/** Remove every image of the lab, its cache. The next `up` builds them anew. */
export async function removeImages(): Promise<number> {
  const client = await docker()
  const images = await client.listImages({ filters: { reference: ['drover-lab/*'] } })
  // A derived image holds its base, so one pass does not get them all.
  let left = images.map((image) => image.Id)
  for (let pass = 0; pass < 4 && left.length > 0; pass += 1) {
    const tried = await Promise.allSettled(left.map((id) => client.getImage(id).remove({ force: true })))
    left = left.filter((_, index) => tried[index]?.status === 'rejected')
  }
  return images.length - left.length
}
