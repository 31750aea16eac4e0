import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import type { Figure } from './figure.ts'
import { type Command, cpuOf, hostCpuOf, type Measured, wallOf } from './measured.ts'
import { node, root } from './place.ts'

/** Says of figures that were not reached what bounds them; if there is none, nothing is looked for. */
export const explained = async (
  figures: readonly Figure[],
  explain: () => Promise<readonly string[]>,
): Promise<Figure[]> => {
  if (figures.every(({ reached }) => reached !== false)) return [...figures]
  const why = await explain()
  return figures.map((figure) =>
    figure.reached === false ? { ...figure, why: [...(figure.why ?? []), ...why] } : figure,
  )
}

/** Who used the machine during the runs: the client, or the hosts that share its cores. */
export const sharesOf = (measured: readonly Measured[]): string => {
  const cores = availableParallelism()
  const wall = wallOf(measured)
  const share = (ms: number): string => `${((100 * ms) / (wall * cores)).toFixed(0)} %`
  return `of ${cores} cores the client used ${share(cpuOf(measured))}, the sshd and the scripts on the hosts ${share(hostCpuOf(measured))}`
}

/** One more run, with V8's sampling profiler. */
export const profileOf = async ({ client }: Bench, { argv, env, timeoutMs }: Command): Promise<string[]> => {
  const folder = '/tmp/profiles'
  await client.must('rm -rf "$1"', [folder])
  const NODE_OPTIONS = [env?.NODE_OPTIONS ?? '', `--cpu-prof --cpu-prof-dir=${folder}`].join(' ')
  await client.measure({ argv, env: { ...env, NODE_OPTIONS }, timeoutMs })
  const folded = await client.must('"$1" "$2" "$3"', [node, join(root, 'bench/inside/fold.ts'), folder])
  return folded.split('\n')
}
