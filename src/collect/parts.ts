import { shellSource } from '../facts/shell-source.ts'
import { agentUnit, bootstrapUnit, machines, recoveryUnit, workerUnit } from '../tasks/agent/names.ts'
import { activationLock, configFile, daemonStateFile, hostRootAgents, upgradeSignalFile } from '../tasks/agent/paths.ts'
import { binaries, droverMarks, hookUnits, listed, roomAt, unitPatterns, units } from './asked.ts'
import type { Part } from './part.ts'

const kib = 1024

type Bounds = Partial<Pick<Part, 'seconds' | 'bytes' | 'keep'>>

const part = (file: string, about: string, argv: readonly string[], bounds: Bounds = {}): Part => ({
  file,
  about,
  argv,
  seconds: 10,
  bytes: 64 * kib,
  keep: 'first',
  ...bounds,
})

const shell = (text: string, args: readonly string[]): string[] => ['/bin/sh', '-c', text, 'drover', ...args]

const source = (path: string): string => shellSource(new URL(path, import.meta.url))

/** One of the scripts beside this file, with what tells network file systems from others. */
const script = (name: string, ...args: readonly string[]): string[] =>
  shell(source('../facts/inspect/network.sh') + source(`./host/${name}.sh`), args)

const systemctl = (verb: string, ...options: readonly string[]): string[] => [
  ...['systemctl', '--no-pager', ...options, verb, '--'],
  ...units,
]

/** The newest lines first, so that a host with a long journal reads no more of it than is kept. */
const journal = (name: string, about: string, bytes: number, sinceS: number, matches: readonly string[]): Part =>
  part(
    `journal/${name}.log`,
    `journal of ${about}`,
    ['journalctl', '-q', '--no-pager', '-r', '-o', 'short-iso', '--utc', `--since=-${sinceS}s`, ...matches],
    { bytes, keep: 'newest', seconds: 20 },
  )

const ofUnits = (names: readonly string[]): string[] => names.flatMap((name) => ['-u', name])

/** All that is collected of a host; journals from `sinceS` ago on. */
export const partsOf = (sinceS: number): readonly Part[] => [
  part('system/host.txt', 'kernel, time, load, systemd, failed units, jobs', script('host'), { seconds: 30 }),
  part(
    'system/os-release.txt',
    'which operating system',
    script('texts', '16384', '/etc/os-release', '/usr/lib/os-release'),
  ),
  part('system/boots.txt', 'boots that the journal knows', ['journalctl', '--no-pager', '--list-boots'], {
    keep: 'last',
    bytes: 8 * kib,
  }),
  part('system/mounts.txt', 'what is mounted', ['cat', '/proc/self/mountinfo'], { bytes: 256 * kib }),
  part('system/space.txt', 'room and inodes', script('space', ...roomAt)),
  part('system/selinux.txt', 'SELinux: mode, and denials that name the agent', script('denials', '300'), {
    bytes: 256 * kib,
    keep: 'last',
    seconds: 15,
  }),
  part('units/status.txt', 'systemctl status', systemctl('status', '--full', '-n', '0'), { bytes: 128 * kib }),
  part('units/show.txt', 'systemctl show', systemctl('show'), { bytes: 384 * kib }),
  part('units/cat.txt', 'texts of the units, with their drop-ins', systemctl('cat'), { bytes: 256 * kib }),
  part('units/list.txt', 'units of the agent, its workers and drover', [
    ...['systemctl', '--no-pager', '--all', '--full', 'list-units', '--'],
    ...unitPatterns,
  ]),
  part(
    'layout/files.txt',
    'names, modes, sizes and links, and no content',
    script('layout', ...listed.flatMap(([depth, path]) => [String(depth), path])),
    { bytes: 512 * kib, seconds: 20 },
  ),
  part('layout/digests.txt', "SHA-256 of the agent's binaries", script('digests', ...binaries), { seconds: 45 }),
  part('state/config.txt', 'config.json: its digest, and the fields that are no secret', script('config', configFile)),
  part('state/daemon-state.json', 'which side is active', script('texts', '65536', daemonStateFile)),
  part('state/daemon-state-checksum.txt', 'whether its checksum agrees', script('checksum', daemonStateFile)),
  part('state/agent-upgrade-signal.json', 'an upgrade that is not over', script('texts', '65536', upgradeSignalFile)),
  part('state/host-root-agents.txt', 'agents that know the host root', script('texts', '65536', hostRootAgents)),
  part(
    'state/activation-lock.txt',
    "who holds the agent's activation lock",
    shell(source('../facts/probes/activation-lock.sh'), [activationLock]),
  ),
  part('state/machines.txt', 'machines that run', script('machines', ...machines)),
  part('state/drover.txt', "drover's lease and rollbacks", script('texts', '4096', ...droverMarks)),
  journal('agent', 'the agent', 1536 * kib, sinceS, ofUnits([agentUnit])),
  journal('recovery', "the agent's recovery", 256 * kib, sinceS, ofUnits([recoveryUnit])),
  journal('bootstrap', 'the first boot', 512 * kib, sinceS, ofUnits([bootstrapUnit])),
  ...machines.map((machine) =>
    journal(`worker-${machine}`, `worker ${machine}`, 768 * kib, sinceS, ofUnits([workerUnit(machine)])),
  ),
  journal('hooks', 'machines.target and what workers start through', 512 * kib, sinceS, ofUnits(hookUnits)),
  journal('drover', 'what drover did', 256 * kib, sinceS, ['-t', 'drover']),
]
