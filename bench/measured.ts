/** A command to be measured, and what it took. */
export interface Command {
  readonly argv: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export interface Measured {
  readonly wallMs: number
  /** User and system time of the command and all its children. */
  readonly cpuMs: number
  /** The same of all else in the container meanwhile: the sshd and what it runs. */
  readonly hostCpuMs: number
  readonly code: number | null
  readonly signal: string | null
  /** The end of each; all of it unless it is huge. */
  readonly stdout: string
  readonly stderr: string
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  if (upper === undefined || lower === undefined) throw new Error('there is no median of nothing')
  return (upper + lower) / 2
}

export const wallOf = (all: readonly Measured[]): number => median(all.map(({ wallMs }) => wallMs))
export const cpuOf = (all: readonly Measured[]): number => median(all.map(({ cpuMs }) => cpuMs))
export const hostCpuOf = (all: readonly Measured[]): number => median(all.map(({ hostCpuMs }) => hostCpuMs))

/** One run of each way in turn, so that a busy minute of the machine falls on all of them. */
export const interleaved = async <W extends string>(
  runs: number,
  ways: Readonly<Record<W, () => Promise<Measured>>>,
): Promise<Record<W, Measured[]>> => {
  const entries = Object.entries(ways) as [W, () => Promise<Measured>][]
  const all = Object.fromEntries(entries.map(([name]) => [name, []])) as unknown as Record<W, Measured[]>
  for (let run = 0; run < runs; run += 1) {
    for (const [name, measure] of entries) {
      const measured = await measure()
      process.stderr.write(
        `bench:   ${name}: ${Math.round(measured.wallMs)} ms, ${Math.round(measured.cpuMs)} ms of CPU\n`,
      )
      all[name].push(measured)
    }
  }
  return all
}
