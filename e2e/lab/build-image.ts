// Building an image, with the build's own words when it fails. testcontainers can build too, but says only "Failed to build image".
import { spawn } from 'node:child_process'
import { docker, imageExists } from './docker.ts'

export interface Build {
  context: string
  dockerfile: string
  image: string
  buildArgs: Record<string, string>
  /** Whether its steps may reach the network. */
  online: boolean
}

export async function buildImage({ context, dockerfile, image, buildArgs, online }: Build): Promise<void> {
  const client = await docker()
  const tar = spawn('tar', ['-C', context, '-cf', '-', '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  // The classic builder: BuildKit needs a session with the client, and Debian's engine does not have it at all.
  const progress = await client.buildImage(tar.stdout, {
    t: image,
    dockerfile,
    buildargs: buildArgs,
    networkmode: online ? 'default' : 'none',
    version: '1',
    rm: true,
    forcerm: true,
  })
  await followed(progress)
  if (!(await imageExists(image))) throw new Error(`building ${dockerfile} gave no image ${image}`)
}

/** Wait for the end of what the engine does. It reports failure in the stream, not by the request's status. */
export async function followed(progress: NodeJS.ReadableStream): Promise<void> {
  const client = await docker()
  const said: string[] = []
  const onEvent = (event: { stream?: string; error?: string }): void => {
    said.push(event.stream ?? event.error ?? '')
    if (event.error !== undefined) failed = true
  }
  let failed = false
  await new Promise<void>((resolve, reject) => {
    client.modem.followProgress(
      progress,
      (error: Error | null) => (error === null || failed ? resolve() : reject(error)),
      onEvent,
    )
  })
  if (failed) throw new Error(`the engine says: ${said.join('').slice(-3000)}`)
}
