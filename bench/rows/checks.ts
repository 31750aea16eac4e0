import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Row } from '../bench.ts'
import { droverCommand, scaled } from '../bench.ts'
import { explained, profileOf, sharesOf } from '../bounds.ts'
import { mustReachAll } from '../drover-runs.ts'
import { type Figure, faster, notMeasured } from '../figure.ts'
import { type BenchHosts, keyFile, writeHosts } from '../hosts.ts'
import { type Command, interleaved, type Measured, wallOf } from '../measured.ts'
import { benchFolder, root } from '../place.ts'

const forks = 50
const timeoutMs = 600_000
const peersFolder = join(root, 'bench/peers')

const peers = [
  { name: 'ansible-core, pipelining', package: 'ansible', factor: 35 },
  { name: 'ansible-core with mitogen', package: 'ansible', factor: 18 },
  { name: 'pyinfra', package: 'pyinfra', factor: 8 },
] as const
type PeerName = (typeof peers)[number]['name']

/** Ten looks at what is so already, by drover and by the tools that do such things step by step. */
export const checks: Row = {
  name: 'checks',
  about:
    'The same ten directories, with mode and owner, by drover, `ansible.builtin.file` and ' +
    '`files.directory`; none gathers facts about the host beside them. Ansible runs with pipelining and ' +
    'its own ControlPersist, and every run of it starts without open connections.',
  measure: async (bench: Bench): Promise<Figure[]> => {
    const { client, runs, installed } = bench
    const hosts = writeHosts(scaled(bench, 100), client.hostKey)
    const count = hosts.addresses.length
    const playbook = join(peersFolder, 'checks-drover.yaml')
    const drover = droverCommand(bench, [
      ...['run', playbook, '-i', hosts.inventory, '--forks', String(forks), '--runs-dir', '/tmp/runs'],
    ])
    const there = peers.filter((peer) => 'folder' in installed[peer.package])
    const commands = commandsOf(bench, hosts)
    const measured = await interleaved<'drover' | PeerName>(runs, {
      drover: async () => mustReachAll(await client.measure(drover), count),
      ...(Object.fromEntries(
        there.map(({ name }) => [name, async () => mustEndWell(name, await measurePeer(bench, commands[name]()))]),
      ) as Record<PeerName, () => Promise<Measured>>),
    })
    const what = (name: string) => `ten read-only checks on ${count} hosts, ${forks} forks: against ${name}`
    const figures = peers.map(({ name, package: from, factor }) => {
      const state = installed[from]
      if ('missing' in state) return notMeasured(what(name), `≥ ${factor}× faster`, state.missing)
      return faster(factor, {
        what: what(name),
        measured: wallOf(measured.drover),
        against: wallOf(measured[name]),
        of: name,
      })
    })
    return explained(figures, async () => [
      `drover: ${sharesOf(measured.drover)}`,
      ...there.map(({ name }) => `${name}: ${sharesOf(measured[name])}`),
      ...(await profileOf(bench, drover)),
    ])
  },
}

/** Connections that Ansible leaves open belong to one run: with those of the run before it would start ahead. */
const measurePeer = async ({ client }: Bench, command: Command): Promise<Measured> => {
  await client.must('rm -rf /tmp/peer && mkdir -p /tmp/peer/control')
  try {
    return await client.measure(command)
  } finally {
    await client.must(
      'for s in /tmp/peer/control/*; do [ ! -S "$s" ] || ssh -O exit -S "$s" host 2>/dev/null || :; done',
    )
  }
}

const mustEndWell = (name: string, measured: Measured): Measured => {
  if (measured.code === 0) return measured
  throw new Error(
    `${name} ended with ${measured.code ?? measured.signal}:\n${measured.stdout.slice(-3000)}\n${measured.stderr.slice(-1000)}`,
  )
}

const commandsOf = ({ installed }: Bench, hosts: BenchHosts): Record<PeerName, () => Command> => {
  const pythonPath = (from: 'ansible' | 'pyinfra'): string => {
    const state = installed[from]
    return 'folder' in state ? state.folder : ''
  }
  const ansible = (env: Readonly<Record<string, string>>): Command => ({
    argv: [
      ...(['python3', join(pythonPath('ansible'), 'bin/ansible-playbook')] as const),
      ...['-i', hosts.ini, join(peersFolder, 'checks.yaml')],
    ],
    env: {
      PYTHONPATH: pythonPath('ansible'),
      LC_ALL: 'C.UTF-8',
      ANSIBLE_FORKS: String(forks),
      ANSIBLE_PIPELINING: 'True',
      ANSIBLE_LOCAL_TEMP: '/tmp/peer/local',
      ANSIBLE_SSH_CONTROL_PATH_DIR: '/tmp/peer/control',
      ...env,
    },
    timeoutMs,
  })
  const inventory = join(benchFolder('hosts', String(hosts.addresses.length)), 'pyinfra_hosts.py')
  rmSync(inventory, { force: true })
  writeFileSync(inventory, pyinfraInventory(hosts))
  return {
    'ansible-core, pipelining': () => ansible({}),
    'ansible-core with mitogen': () =>
      ansible({
        ANSIBLE_STRATEGY: 'mitogen_linear',
        ANSIBLE_STRATEGY_PLUGINS: join(pythonPath('ansible'), 'ansible_mitogen/plugins/strategy'),
      }),
    pyinfra: () => ({
      argv: [
        ...(['python3', join(pythonPath('pyinfra'), 'bin/pyinfra'), '--yes', '--parallel', String(forks)] as const),
        ...[inventory, join(peersFolder, 'checks_pyinfra.py')],
      ],
      env: { PYTHONPATH: pythonPath('pyinfra'), LC_ALL: 'C.UTF-8' },
      timeoutMs,
    }),
  }
}

const pyinfraInventory = ({ addresses, knownHosts }: BenchHosts): string => {
  const data = [
    `"ssh_user": "bare"`,
    `"ssh_key": "${keyFile}"`,
    `"ssh_known_hosts_file": "${knownHosts}"`,
    `"ssh_strict_host_key_checking": "yes"`,
  ].join(', ')
  return `hosts = [\n${addresses.map((address) => `    ("${address}", {${data}}),\n`).join('')}]\n`
}
