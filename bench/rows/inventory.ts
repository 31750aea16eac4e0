import { join } from 'node:path'
import type { Bench, Row } from '../bench.ts'
import { droverCommand, scaled } from '../bench.ts'
import { explained, profileOf } from '../bounds.ts'
import { type Figure, faster, notMeasured } from '../figure.ts'
import { writeHosts } from '../hosts.ts'
import { type Command, interleaved, type Measured, wallOf } from '../measured.ts'

// Most of them, and not by a name that could be looked up.
const pattern = 'h0[!9]*'
const ansiblePattern = 'h0[!9]*'

/** A large inventory, read, narrowed and printed; no host is touched. */
export const inventory: Row = {
  name: 'inventory',
  about:
    'Ten thousand hosts in a hundred groups, YAML for drover and INI for Ansible; a pattern with a ' +
    'wildcard; JSON out.',
  measure: async (bench: Bench): Promise<Figure[]> => {
    const { client, runs, installed } = bench
    const hosts = writeHosts(scaled(bench, 10_000), client.hostKey)
    const what = `inventory of ${hosts.addresses.length} hosts: load, pattern, list`
    const { ansible } = installed
    if ('missing' in ansible) return [notMeasured(what, '≥ 10× faster', ansible.missing)]
    const drover = droverCommand(bench, ['inventory', 'list', '-i', hosts.inventory, '-l', pattern, '-o', 'json'])
    const peer: Command = {
      argv: [
        ...(['python3', join(ansible.folder, 'bin/ansible-inventory'), '-i', hosts.ini] as const),
        ...['--list', '--limit', ansiblePattern],
      ],
      env: { PYTHONPATH: ansible.folder, LC_ALL: 'C.UTF-8', ANSIBLE_LOCAL_TEMP: '/tmp/peer/local' },
      timeoutMs: 120_000,
    }
    const printing = async (command: Command): Promise<Measured> => {
      const measured = await client.measure(command)
      if (measured.code === 0 && measured.stdout.includes('h0')) return measured
      throw new Error(`${command.argv[1]} ended with ${measured.code}: ${measured.stderr}`)
    }
    const measured = await interleaved(runs, { drover: () => printing(drover), ansible: () => printing(peer) })
    const figures = [
      faster(10, {
        what,
        measured: wallOf(measured.drover),
        against: wallOf(measured.ansible),
        of: 'ansible-inventory',
      }),
    ]
    return explained(figures, () => profileOf(bench, drover))
  },
}
