// The way to the Docker engine. testcontainers finds it and hands out its dockerode client; the docker command is not needed.
import { Readable } from 'node:stream'
import { getContainerRuntimeClient } from 'testcontainers'

// Ryuk, the cleaner of testcontainers, is an image that must be pulled, which cannot be where there is no registry.
// So the lab removes by label what it started.
process.env.TESTCONTAINERS_RYUK_DISABLED = 'true'

export type Docker = Awaited<ReturnType<typeof getContainerRuntimeClient>>['container']['dockerode']

/** The client of the engine that runs, or undefined if none answers. */
export async function runningDocker(): Promise<Docker | undefined> {
  try {
    const docker = (await getContainerRuntimeClient()).container.dockerode
    await docker.ping()
    return docker
  } catch {
    return undefined
  }
}

export async function docker(): Promise<Docker> {
  const found = await runningDocker()
  if (found === undefined) throw new Error('no Docker engine answers; run `npm run lab -- up`, which starts one')
  return found
}

export async function imageExists(name: string): Promise<boolean> {
  try {
    await (await docker()).getImage(name).inspect()
    return true
  } catch (error) {
    if (isStatus(error, 404)) return false
    throw error
  }
}

export function isStatus(error: unknown, status: number): boolean {
  return typeof error === 'object' && error !== null && 'statusCode' in error && error.statusCode === status
}

export interface Output {
  code: number
  stdout: string
  stderr: string
}

/**
 * `docker exec`: run a program inside a container, with optional standard input. It is never run on this machine. A container that stops
 * in the middle may never end the stream, hence the time limit.
 */
export async function execIn(
  containerId: string,
  argv: readonly string[],
  options: { stdin?: Uint8Array | string | undefined; timeoutMs?: number } = {},
): Promise<Output> {
  const client = await docker()
  const exec = await client.getContainer(containerId).exec({
    Cmd: [...argv],
    AttachStdin: options.stdin !== undefined,
    AttachStdout: true,
    AttachStderr: true,
  })
  const stream = await exec.start({ hijack: options.stdin !== undefined, stdin: options.stdin !== undefined })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  client.modem.demuxStream(stream, collector(stdout), collector(stderr))
  if (options.stdin !== undefined) Readable.from([Buffer.from(options.stdin)]).pipe(stream)
  const timeoutMs = options.timeoutMs ?? 180_000
  const timer = setTimeout(
    () =>
      stream.destroy(new Error(`no end of ${argv.slice(0, 6).join(' ').slice(0, 200)} within ${timeoutMs / 1000} s`)),
    timeoutMs,
  )
  await new Promise((resolve, reject) => stream.on('end', resolve).on('close', resolve).on('error', reject)).finally(
    () => clearTimeout(timer),
  )
  const code = (await exec.inspect()).ExitCode ?? -1
  return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }
}

/** The part of a writable stream that demuxStream uses. Bytes are kept whole, so no character is cut between two chunks. */
function collector(chunks: Buffer[]): NodeJS.WritableStream {
  return { write: (chunk: Buffer) => chunks.push(Buffer.from(chunk)) > 0 } as unknown as NodeJS.WritableStream
}
