// Big files to a lab host through the real engine, without a task of the product: one step that wants them where they are.
import { createHash, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Artifact } from '../../src/changes/artifact.ts'
import type { Change } from '../../src/changes/change.ts'
import type { HostView } from '../../src/facts/view.ts'
import type { Host } from '../../src/inventory/host.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import { runLane } from '../../src/runner/lane.ts'
import { createMachines } from '../../src/runner/machines.ts'
import type { Run } from '../../src/runner/run.ts'
import type { Secret } from '../../src/secret.ts'
import { planned, type Task } from '../../src/tasks/task.ts'
import { createTransport } from '../../src/transport/transport.ts'
import { createUploads, type UploadOptions, type Uploads } from '../../src/transport/upload/uploads.ts'
import type { Lab } from '../lab/lab.ts'

export type Upload = Extract<Change, { kind: 'upload' }>
export type Copy = Extract<Change, { kind: 'copy' }>
type Uploaded = Extract<RunEvent, { type: 'uploaded' }>
type Ended = Extract<RunEvent, { type: 'host-ended' }>

/** Bytes of a file of this workstation. */
export const artifactOf = (lab: Lab, bytes: Uint8Array): Artifact => {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file = join(lab.folder, `artifact-${sha256}`)
  writeFileSync(file, bytes)
  return { file, sha256, size: bytes.length }
}

/** A task that wants files to be there, in directories that are to be made before them, and copies of files of the host. */
const wantsFiles = (
  uploads: readonly Upload[],
  directories: readonly string[],
  copies: readonly Copy[],
): Task<unknown> =>
  ({
    name: 'delivered',
    summary: '',
    params: {},
    example: '',
    facts: () => [
      ...[...uploads, ...copies].map(({ path }) => ({ kind: 'path', path, sha256: true })),
      ...directories.map((path) => ({ kind: 'path', path })),
    ],
    plan: (view: HostView) =>
      planned([
        ...directories
          .filter((path) => view.node(path).type === 'absent')
          .map((path): Change => ({ kind: 'directory', path, mode: 0o755, owner: 'root:root' })),
        ...uploads.filter(({ path, artifact }) => view.sha256(path) !== artifact.sha256),
        ...copies.filter(({ path, sha256 }) => view.sha256(path) !== sha256),
      ]),
  }) as unknown as Task<unknown>

export interface Delivering extends Partial<Pick<UploadOptions, 'forks' | 'bytesPerS' | 'baseOf'>> {
  readonly directories?: readonly string[]
  readonly copies?: readonly Copy[]
  readonly password?: Secret
  readonly stop?: AbortSignal
  /** What happens on the host between the last byte and the first change. */
  readonly meanwhile?: () => Promise<unknown>
}

export interface Delivery {
  readonly end: Ended
  readonly uploads: readonly Uploaded[]
  readonly events: readonly RunEvent[]
}

const never = new AbortController().signal
const second = 1000

/** One run of that step on one host. */
export const deliverTo = async (
  lab: Lab,
  host: Host,
  wanted: readonly Upload[],
  options: Delivering = {},
): Promise<Delivery> => {
  const {
    directories = [],
    copies = [],
    password,
    stop = never,
    meanwhile,
    forks = 5,
    bytesPerS,
    baseOf = async () => null,
  } = options
  const events: RunEvent[] = []
  const uploads = createUploads({ forks, bytesPerS, baseOf, directory: lab.folder })
  const limit = async (stage: () => Promise<void>): Promise<void> => {
    await uploads.limit(stage)
    await meanwhile?.()
  }
  const transport = createTransport({
    deadlines: {
      resolveMs: 5 * second,
      connectMs: 10 * second,
      handshakeMs: 20 * second,
      authMs: 20 * second,
      channelMs: 10 * second,
    },
    passphrase: () => undefined,
  })
  const run: Run = {
    id: `delivery-${randomUUID().slice(0, 8)}`,
    operator: 'e2e@lab',
    reason: null,
    mode: 'apply',
    forks: 1,
    tasks: new Map([['delivered', wantsFiles(wanted, directories, copies)]]),
    transport,
    uploads: { ...uploads, limit: limit as Uploads['limit'] },
    becomeOf: () => (host.become ? { method: 'sudo', ...(password !== undefined && { password }) } : null),
    deadlines: { inspectMs: 60_000, applyGraceMs: 20_000, reconnectMs: 60_000, backoffMs: 200, stallMs: 30_000 },
    machines: createMachines(),
    sink: (event) => events.push(event),
    softStop: stop,
    hardStop: never,
  }
  try {
    await runLane(run, { host, steps: [{ name: 'deliver', task: 'delivered', params: {}, when: null }] })
  } finally {
    await uploads.close()
    await transport.close()
  }
  const end = events.find((event): event is Ended => event.type === 'host-ended')
  if (end === undefined) throw new Error('the host has not ended')
  return { end, uploads: events.filter((event): event is Uploaded => event.type === 'uploaded'), events }
}
