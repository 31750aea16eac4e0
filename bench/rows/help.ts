import type { Bench, Row } from '../bench.ts'
import { droverCommand } from '../bench.ts'
import { explained, profileOf } from '../bounds.ts'
import { atMost, type Figure } from '../figure.ts'
import { interleaved, wallOf } from '../measured.ts'
import { node } from '../place.ts'

// So short that five would tell little.
const times = 4

/** How long it takes until drover says anything. */
export const help: Row = {
  name: 'help',
  about: 'Two processes, one after the other; four times as many runs as the other rows have.',
  measure: async (bench: Bench): Promise<Figure[]> => {
    const { client, runs } = bench
    const drover = droverCommand(bench, ['--help'])
    // Not the first call, which reads all of it from the disk.
    await client.measure(drover)
    const measured = await interleaved(runs * times, {
      drover: () => client.measure(drover),
      'node -e 0': () => client.measure({ argv: [node, '-e', '0'], timeoutMs: 30_000 }),
    })
    const figures = [
      atMost(2, {
        what: 'drover --help',
        measured: wallOf(measured.drover),
        against: wallOf(measured['node -e 0']),
        of: 'node -e 0',
      }),
    ]
    return explained(figures, () => profileOf(bench, drover))
  },
}
