// Runs of drover, and whether they did what is being measured.
import { type Bench, droverCommand } from './bench.ts'
import { writeHosts } from './hosts.ts'
import type { Measured } from './measured.ts'

/** Hosts may be found wanting, but each must have been looked at: a fleet out of reach is quick to go through. */
export const mustReachAll = (measured: Measured, hosts: number): Measured => {
  const reached = measured.stdout.match(/ unreachable=0 /g)?.length ?? 0
  if (reached === hosts && (measured.code === 0 || measured.code === 2)) return measured
  throw new Error(
    `drover reached ${reached} of ${hosts} hosts (exit ${measured.code ?? measured.signal}):\n${measured.stdout.slice(-3000)}\n${measured.stderr.slice(-1000)}`,
  )
}

/** The command line that drover sends to a host in this run, as the host's sshd got it. */
export const askedCommand = async (bench: Bench, args: readonly string[]): Promise<string> => {
  const { client } = bench
  const { knownHosts } = writeHosts(1, client.hostKey)
  const reach = ['-i', '127.1.0.1,', '-u', 'bare', '--private-key', '/bench/asked', '--known-hosts', knownHosts]
  await client.must('rm -f /tmp/asked')
  const measured = await client.measure(droverCommand(bench, [...args, ...reach, '--runs-dir', '/tmp/runs']))
  mustReachAll(measured, 1)
  return client.must('cat /tmp/asked')
}
