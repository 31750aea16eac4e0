import { DroverError, type ErrorDetails } from '../errors.ts'
import { runScript } from '../transport/script/run-script.ts'
import type { Upload } from '../transport/upload/content.ts'
import { type Delivered, deliver } from '../transport/upload/deliver.ts'
import type { FarSide } from '../transport/upload/far-side.ts'
import { type Probed, probe } from '../transport/upload/probe.ts'
import { refusalOf } from '../transport/upload/room.ts'
import type { Uploads } from '../transport/upload/uploads.ts'
import type { Failure } from './conclude.ts'
import type { Lane } from './lane.ts'
import { errorReport } from './outcome.ts'
import { outlive } from './outlive.ts'
import type { SegmentChange } from './reboot.ts'
import { emit } from './run.ts'

/** An upload with the step that wants it. */
interface Wanted {
  readonly step: string
  readonly upload: Upload
}

/**
 * Brings the big files of a segment to the host, each beside the place that its change is going to put it in. Nothing of
 * the segment has been begun by then, so what does not arrive leaves the host as it was.
 */
export const stageUploads = async (lane: Lane, changes: readonly SegmentChange[]): Promise<Failure | null> => {
  const wanted = changes.flatMap(wantedOf)
  const [first] = wanted
  if (first === undefined) return null
  const { uploads } = lane.run
  if (uploads === undefined) throw new Error('a run that brings no files to hosts is to bring one')
  let current = first
  const stage = async (): Promise<void> => {
    const signal = AbortSignal.any([lane.run.softStop, lane.run.hardStop])
    const far = farSideOf(lane)
    lane.watch.at(`step '${current.step}': upload of ${current.upload.path}`)
    const bases = await basesAtHand(uploads, wanted)
    const withBase = ({ base }: Upload): boolean => base !== undefined && bases.has(base.sha256)
    const probed = await outlive(lane, () =>
      probe(
        far,
        wanted.map(({ upload }) => upload),
        { withBase, signal },
      ),
    )
    const refusal = refusalOf(wanted.map(({ upload }, index) => ({ upload, place: placeAt(probed, index) })))
    if (refusal !== null) {
      current = wanted.find(({ upload }) => upload === refusal.upload) ?? current
      throw refusal.error
    }
    refuseTwice(wanted, probed)
    for (const [index, each] of wanted.entries()) {
      current = each
      lane.watch.at(`step '${each.step}': upload of ${each.upload.path}`)
      const started = performance.now()
      const one = { programs: probed.programs, places: [placeAt(probed, index)] }
      tell(lane, each.upload, started, await deliver(far, each.upload, { probed: one, means: { ...uploads, signal } }))
    }
  }
  try {
    await uploads.limit(stage)
    return lane.run.softStop.aborted ? { step: { name: first.step }, error: stopped } : null
  } catch (thrown) {
    if (lane.run.softStop.aborted) return { step: { name: current.step }, error: { ...stopped, cause: thrown } }
    if (!(thrown instanceof DroverError)) throw thrown
    return { step: { name: current.step }, error: { ...errorReport(thrown), cause: thrown } }
  }
}

const wantedOf = ({ step, change }: SegmentChange): Wanted[] => {
  if (change.kind !== 'upload') return []
  const { path, artifact, mode, base } = change
  const isProgram = (mode & 0o111) !== 0
  return [{ step, upload: { path, content: artifact, isProgram, ...(base !== undefined && { base }) } }]
}

const farSideOf = (lane: Lane): FarSide => ({
  run: lane.run.id,
  exec: (script) =>
    lane.exec('upload', () =>
      runScript(lane.connection, { run: lane.run.id, verb: 'upload', become: lane.become, ...script }),
    ),
  reconnect: (why) => lane.reconnect(why),
})

/** Digests of what hosts may have and this workstation has, too: only those are worth looking at. */
const basesAtHand = async (uploads: Uploads, wanted: readonly Wanted[]): Promise<ReadonlySet<string>> => {
  const digests = new Set(wanted.flatMap(({ upload: { base } }) => (base === undefined ? [] : [base.sha256])))
  const known = await Promise.all([...digests].map(async (sha256) => ((await uploads.baseOf(sha256)) ? [sha256] : [])))
  return new Set(known.flat())
}

const placeAt = ({ places }: Probed, index: number) => {
  const place = places[index]
  if (place === undefined) throw new Error('a probe with fewer answers than questions')
  return place
}

/** Two changes would find one staged file. A task has the second made by `copy`. */
const refuseTwice = (wanted: readonly Wanted[], { places }: Probed): void => {
  const staged = wanted.map(({ upload }, index) => `${places[index]?.directory}/${upload.content.sha256}`)
  if (new Set(staged).size < staged.length) throw new Error('one file is to be uploaded twice into one directory')
}

const tell = ({ run, play }: Lane, { path, content }: Upload, started: number, { sent, how }: Delivered): void =>
  emit(run, {
    type: 'uploaded',
    host: play.host.name,
    path,
    bytes: content.size,
    sent,
    how,
    ms: Math.round(performance.now() - started),
  })

const stopped: ErrorDetails = {
  code: 'cancelled',
  message: 'The run was interrupted while files were brought to the host; no change was begun.',
  remedy: 'Run again to finish the work: what has arrived is kept.',
}
