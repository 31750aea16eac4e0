import type { Bench, Row } from '../bench.ts'
import { droverCommand, scaled } from '../bench.ts'
import { explained, profileOf, sharesOf } from '../bounds.ts'
import { askedCommand, mustReachAll } from '../drover-runs.ts'
import { atMost, type Figure } from '../figure.ts'
import { writeHosts } from '../hosts.ts'
import { type Command, cpuOf, interleaved, wallOf } from '../measured.ts'

const forks = 50

/** A look at many hosts, against OpenSSH's own client with the very same script. */
export const preflight: Row = {
  name: 'preflight',
  about:
    "drover's shipped preflight against `xargs -P50 ssh` with the very command line that drover sends, " +
    "taken down on the host's side. One user with a bare `/bin/sh`. Both have the host keys of all hosts " +
    'in a `known_hosts` of one line each. CPU is user and system time of the process and all its ' +
    'children.',
  measure: async (bench: Bench): Promise<Figure[]> => {
    const { client, runs } = bench
    const hosts = writeHosts(scaled(bench, 200), client.hostKey)
    const count = hosts.addresses.length
    const args = ['run', 'preflight', '-i', hosts.inventory, '--forks', String(forks), '--runs-dir', '/tmp/runs']
    const drover = droverCommand(bench, args)
    const script = await askedCommand(bench, ['run', 'preflight'])
    await client.must('cat >/tmp/addresses', [], `${hosts.addresses.join('\n')}\n`)
    const openssh = (...options: readonly string[]): Command => ({
      argv: [
        ...(['xargs', '-a', '/tmp/addresses', `-P${forks}`, '-I', '@HOST@', 'ssh', '-F', hosts.sshConfig] as const),
        ...[...options, '@HOST@', script],
      ],
      timeoutMs: 300_000,
    })
    const measured = await interleaved(runs, {
      drover: async () => mustReachAll(await client.measure(drover), count),
      'OpenSSH, curve25519': () => client.measure(openssh('-oKexAlgorithms=curve25519-sha256')),
      'OpenSSH, its defaults': () => client.measure(openssh()),
    })
    const compare = (of: Exclude<keyof typeof measured, 'drover'>, number: typeof wallOf, label: string) => ({
      what: `preflight of ${count} hosts, no changes, ${forks} forks: ${label}`,
      measured: number(measured.drover),
      against: number(measured[of]),
      of,
    })
    const figures = [
      atMost(1, compare('OpenSSH, curve25519', wallOf, 'wall')),
      atMost(0.5, compare('OpenSSH, curve25519', cpuOf, 'CPU of the client')),
      atMost(0.45, compare('OpenSSH, its defaults', wallOf, 'wall')),
    ]
    return explained(figures, async () => [
      `drover: ${sharesOf(measured.drover)}`,
      `OpenSSH, curve25519: ${sharesOf(measured['OpenSSH, curve25519'])}`,
      `OpenSSH, its defaults: ${sharesOf(measured['OpenSSH, its defaults'])}`,
      ...(await profileOf(bench, drover)),
    ])
  },
}
