import { join } from 'node:path'
import type { Bench, Row } from '../bench.ts'
import { scaled } from '../bench.ts'
import { explained, profileOf, sharesOf } from '../bounds.ts'
import { openClient } from '../client.ts'
import { atMost, type Figure, within } from '../figure.ts'
import { writeHosts } from '../hosts.ts'
import { type Command, interleaved, type Measured, median, wallOf } from '../measured.ts'
import { node, root } from '../place.ts'

const megabytes = 64
const payload = '/tmp/payload'
const folder = '/tmp/uploaded'
const scpOptions = '-oCiphers=aes128-gcm@openssh.com -oKexAlgorithms=curve25519-sha256'

/** The same file to many hosts, in memory on both sides: no disk is measured here. */
export const upload: Row = {
  name: 'upload',
  about:
    'The staged, checked and renamed upload (`src/transport/upload/`) against `scp` with the same ' +
    'cipher and key exchange, all hosts at once, connections included. Memory to memory: `/tmp` is a ' +
    'tmpfs on both sides. In a container of Debian 13 (OpenSSH 10.0), whose `sha256sum` is that of OpenSSL, ' +
    'as on Ubuntu and the RHEL family.',
  measure: async (bench: Bench): Promise<Figure[]> => {
    const client = await openClient('ubuntu-like')
    try {
      return await measureUpload({ ...bench, client })
    } finally {
      await client.close()
    }
  },
}

const measureUpload = async (bench: Bench): Promise<Figure[]> => {
  const { client, shipped, runs } = bench
  const hosts = writeHosts(scaled(bench, 20), client.hostKey)
  const count = hosts.addresses.length
  await client.must('head -c "$1" /dev/urandom >"$2"', [String(megabytes << 20), payload])
  await client.must('cat >/tmp/addresses', [], `${hosts.addresses.join('\n')}\n`)
  const drover: Command = {
    argv: [node, join(root, 'bench/inside/upload.ts'), shipped, hosts.inventory, payload, folder],
    timeoutMs: 300_000,
  }
  const each = `scp -q -F ${hosts.sshConfig} ${scpOptions} ${payload} @HOST@:${folder}/@HOST@/file`.split(' ')
  const scp: Command = {
    argv: ['xargs', '-a', '/tmp/addresses', `-P${count}`, '-I', '@HOST@', ...each],
    timeoutMs: 300_000,
  }
  const empty = (): Promise<string> =>
    client.must('rm -rf "$1" && mkdir "$1" && cd "$1" && xargs mkdir -m 0777 </tmp/addresses', [folder])
  const complete = async (command: Command): Promise<Measured> => {
    await empty()
    const measured = await client.measure(command)
    const same = await client.must(
      'cd "$1" && for f in */file */.drover-*; do cmp -s "$f" "$2" && echo same; done | wc -l',
      [folder, payload],
    )
    if (measured.code === 0 && Number(same) === count) return measured
    throw new Error(`${command.argv[0]} delivered ${same} of ${count} (exit ${measured.code}): ${measured.stderr}`)
  }
  const measured = await interleaved(runs, { drover: () => complete(drover), scp: () => complete(scp) })
  const what = `${megabytes} MB to ${count} hosts, ${count} forks`
  const figures = [
    atMost(0.8, {
      what: `${what}: wall`,
      measured: wallOf(measured.drover),
      against: wallOf(measured.scp),
      of: 'scp, aes128-gcm',
    }),
    within(50, {
      what: `${what}: 99th percentile of the event loop's turns`,
      measured: median(measured.drover.map(({ stdout }) => Number(stdout))),
      unit: ' ms',
      strict: true,
    }),
  ]
  return explained(figures, async () => {
    await empty()
    return [
      `drover: ${sharesOf(measured.drover)}`,
      `scp: ${sharesOf(measured.scp)}`,
      ...(await profileOf(bench, drover)),
    ]
  })
}
