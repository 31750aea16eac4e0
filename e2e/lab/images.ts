// The lab's images: stand-ins made from Debian. They are called what they are: rhel9-like is not RHEL.
import { join } from 'node:path'
import { buildImage } from './build-image.ts'
import { docker, imageExists } from './docker.ts'
import { withLock } from './lock.ts'
import { ensureRootfs, type Release } from './rootfs.ts'
import { labSources, recipeDigest } from './state.ts'

export type ImageName = 'rhel9-like' | 'rhel9-like-bare' | 'ubuntu-like' | 'acl-like' | 'acl-like-no-variant'

interface Recipe {
  dockerfile: string
  from: Release | ImageName
  /** The real distribution, for where a registry can be reached. */
  registryDockerfile?: string
}

const RECIPES: Record<ImageName, Recipe> = {
  'rhel9-like': { dockerfile: 'rhel9-like/Dockerfile', from: 'bookworm', registryDockerfile: 'registry/rhel9.Dockerfile' },
  'rhel9-like-bare': { dockerfile: 'rhel9-like-bare/Dockerfile', from: 'bookworm-dnf' },
  'ubuntu-like': { dockerfile: 'ubuntu-like/Dockerfile', from: 'trixie', registryDockerfile: 'registry/ubuntu.Dockerfile' },
  'acl-like': { dockerfile: 'acl-like/Dockerfile', from: 'trixie' },
  'acl-like-no-variant': { dockerfile: 'acl-like/no-variant.Dockerfile', from: 'acl-like' },
}

export const IMAGE_NAMES = Object.keys(RECIPES) as ImageName[]

const context = join(labSources, 'images')

/** Build what is missing and return each image's full name. Call it before booting; a second call costs a look at the engine. */
export async function ensureImages(names: readonly ImageName[], options: { yes?: boolean } = {}): Promise<Record<ImageName, string>> {
  return withLock('images', 900_000, async () => {
    const made = new Map<string, Promise<string>>()
    const once = (key: string, make: () => Promise<string>): Promise<string> => {
      const known = made.get(key) ?? make()
      made.set(key, known)
      return known
    }
    const base = (release: Release): Promise<string> => once(release, () => ensureBase(release, options.yes ?? false))
    const image = (name: ImageName): Promise<string> => once(name, () => ensureImage(name, base, image))
    // Both releases at once: mmdebstrap waits for the network and for one core in turn.
    const entries = await Promise.all(names.map(async (name) => [name, await image(name)] as const))
    return Object.fromEntries(entries) as Record<ImageName, string>
  })
}

async function ensureImage(
  name: ImageName,
  base: (release: Release) => Promise<string>,
  image: (name: ImageName) => Promise<string>,
): Promise<string> {
  const recipe = RECIPES[name]
  if (useRegistry() && recipe.registryDockerfile !== undefined) return ensureBuilt(`drover-lab/${name}`, recipe.registryDockerfile, {})
  const from = isRelease(recipe.from) ? await base(recipe.from) : await image(recipe.from)
  return ensureBuilt(`drover-lab/${name}`, recipe.dockerfile, { BASE: from })
}

async function ensureBase(release: Release, yes: boolean): Promise<string> {
  const rootfs = await ensureRootfs(release, yes)
  return ensureBuilt(`drover-lab/base-${release}`, 'base.Dockerfile', { ROOTFS: rootfs })
}

/** The tag is a digest of the recipe, so a changed recipe is another image and is built anew. */
async function ensureBuilt(repository: string, dockerfile: string, buildArgs: Record<string, string>): Promise<string> {
  const tag = recipeDigest([context], [dockerfile, ...Object.values(buildArgs)])
  const image = `${repository}:${tag}`
  if (await imageExists(image)) return image
  process.stderr.write(`lab: building ${repository}\n`)
  await buildImage(context, dockerfile, image, buildArgs)
  return image
}

function isRelease(name: Release | ImageName): name is Release {
  return name === 'bookworm' || name === 'trixie' || name === 'bookworm-dnf'
}

function useRegistry(): boolean {
  return process.env.DROVER_LAB_REGISTRY_IMAGES === '1'
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
