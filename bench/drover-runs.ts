// Runs of drover, and whether they did what is being measured.
import { type Bench, droverCommand } from './bench.ts'
import { writeHosts } from './hosts.ts'
import type { Measured } from './measured.ts'

/** Hosts may be found wanting, but each must have been looked at: a fleet out of reach is quick to go through. */
export const mustReachAll = (measured: Measured, hosts: number): Measured => {
  const recap = measured.stdout.match(/unreachable=(\d+)/g) ?? []
  const isReached = recap.length > 0 && recap.every((word) => word === 'unreachable=0')
  if (isReached && (measured.code === 0 || measured.code === 2)) return measured
  throw new Error(
    `drover did not reach all ${hosts} hosts (exit ${measured.code ?? measured.signal}):\n${measured.stdout}\n${measured.stderr}`,
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
