import { readFileSync } from 'node:fs'
import { openLab } from '../../e2e/lab/lab.ts'
import { inventoryHost } from '../../e2e/support/core.ts'
import { artifactOf, type Delivery, deliverTo, type Upload } from '../../e2e/support/delivery.ts'
import { cut } from '../../e2e/support/wire.ts'
import type { Row } from '../bench.ts'
import { type Figure, within } from '../figure.ts'
import { neighbouringBuilds } from '../peers/builds.ts'

/** What travels, in bytes: it does not depend on the machine, so once is enough. */
export const delivery: Row = {
  name: 'delivery',
  about:
    "Bytes that leave the workstation for a program as large as an agent: Go's own `go`, statically linked and stripped, and " +
    'the same with another version string and one more line in its source. To a host that has zstd. Counted before ' +
    'encryption, as the `uploaded` events have it.',
  measure: async (): Promise<Figure[]> => {
    const [older, newer] = await neighbouringBuilds()
    const lab = await openLab('bench-delivery', { yes: true })
    try {
      const host = await lab.boot({ name: 'wire', image: 'ubuntu-like-shells' })
      const to = inventoryHost(lab, host)
      const wanted = (file: string, path: string): Upload => ({
        kind: 'upload',
        path,
        artifact: artifactOf(lab, readFileSync(file)),
        mode: 0o755,
        owner: 'root:root',
      })
      const old = wanted(older, '/opt/agent')
      const { size, sha256 } = old.artifact
      const first = bytesOf(await deliverTo(lab, to, [old]))
      const again = bytesOf(await deliverTo(lab, to, [old]))
      const broken = wanted(older, '/opt/broken')
      const running = deliverTo(lab, to, [broken], { bytesPerS: first / 5 })
      await host.must('until [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; do sleep 0.02; done', [
        `/opt/.drover-${sha256}.part`,
        String(Math.floor(size / 2)),
      ])
      await cut(host)
      const resumed = bytesOf(await running)
      const next: Upload = { ...wanted(newer, '/opt/next'), base: { path: '/opt/agent', sha256 } }
      const delta = bytesOf(await deliverTo(lab, to, [next], { baseOf: async () => old.artifact }))
      const whole = bytesOf(await deliverTo(lab, to, [{ ...wanted(newer, '/opt/whole') }]))
      const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
      const share = (what: string, limit: number, part: number, of: number): Figure =>
        within(limit, { what, measured: (part / of) * 100, unit: ' %', digits: 1 })
      return [
        share(`first install of ${mb(size)}: ${mb(first)}, of its size`, 100, first, size),
        share('the same again, of its size', 0, again, size),
        share('cut half-way and taken up again: sent twice, of what is sent without a cut', 5, resumed - first, first),
        share(`the next build: ${mb(delta)} as a difference, of ${mb(whole)} as a whole`, 100, delta, whole),
      ]
    } finally {
      await lab.close()
    }
  },
}

const bytesOf = ({ end, uploads }: Delivery): number => {
  if (end.error !== undefined) throw new Error(`${end.outcome}: ${end.error.message}`)
  return uploads.reduce((sum, { sent }) => sum + sent, 0)
}
