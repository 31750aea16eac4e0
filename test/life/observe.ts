import type { Fact } from '../../src/facts/fact.ts'
import { probeKey } from '../../src/facts/fact.ts'
import { absent } from '../../src/facts/node.ts'
import type { HostState } from '../../src/facts/state.ts'
import { canonical, nowhere, type Tree } from '../../src/facts/tree.ts'
import { agentUnit } from '../../src/tasks/agent/names.ts'
import { agentUnitFile, configFile, hostRoots, layoutEntry } from '../../src/tasks/agent/paths.ts'
import { ownPreflightArgs } from '../../src/tasks/install/own-preflight.ts'
import { hostState, type UnitLiteral } from '../tasks/host-state.ts'
import { fine } from '../tasks/install/hosts.ts'
import type { LivingHost } from './host.ts'

const programs = Object.fromEntries(
  ['systemctl', 'machinectl', 'systemd-nspawn', 'curl', 'nft', 'mountpoint'].map((name) => [name, `/usr/bin/${name}`]),
)

/** What a look of drover at the host finds. */
export const observe = (host: LivingHost, facts: readonly Fact[]): HostState => {
  const { disk, weather } = host
  const mounts = Object.fromEntries(
    facts.flatMap((fact) => {
      if (fact.kind !== 'mount') return []
      const real = disk.real(fact.path)
      const readOnly = disk.readOnly.some((top) => real === top || real.startsWith(`${top}/`))
      const noexec = weather.noexec && (real === '/opt' || real.startsWith('/opt/'))
      return [[fact.path, { readOnly, noexec, mountPoint: readOnly ? '/usr' : noexec ? '/opt' : '/' }]]
    }),
  )
  const names = facts.flatMap((fact) => (fact.kind === 'unit' ? [fact.name] : []))
  const state = hostState(
    {
      os: { bootId: `boot-${host.boots}`, pid1Start: String(host.boots), clockS: host.clockS },
      self: { owed: host.owed },
      units: Object.fromEntries(names.map((name) => [name, unitLiteral(host, name)])),
      mounts,
      programs,
      versions: Object.fromEntries(
        facts.flatMap((fact) => {
          const [path = ''] = fact.kind === 'probe' && fact.name === 'agent-version' ? (fact.args ?? []) : []
          const version = path === '' ? undefined : host.runs(path)?.version
          return version === undefined ? [] : [[path, version]]
        }),
      ),
      probes: {
        swap: 'swap=none\n',
        conntrack: 'localdns=off\n',
        'api-server': 'config=missing\n',
        'network-left': 'table=absent\nwhole=yes\n',
        'selinux-denials': 'source=journal\ndenials=0\nreset_failed=0\n',
      },
    },
    // The tree is the disk's own, of which everything is known.
    facts.filter(({ kind }) => kind !== 'path'),
  )
  const secretPaths = new Set(facts.flatMap((fact) => (fact.kind === 'path' && fact.secret ? [fact.path] : [])))
  const mountsBelow = facts.flatMap((fact): [string, { code: number; stdout: string }][] =>
    fact.kind === 'probe' && fact.name === 'mounts-below'
      ? [[probeKey(fact.name, fact.args ?? []), { code: 0, stdout: 'whole=yes\n' }]]
      : [],
  )
  const preflights = hostRoots.map((root): [string, { code: number; stdout: string }] => {
    const isAsked = host.runs(layoutEntry(root, 'current')) !== null && disk.exists(configFile)
    return [
      probeKey('agent-preflight', ownPreflightArgs(root)),
      { code: 0, stdout: isAsked && !disk.exists(agentUnitFile) ? fine : '' },
    ]
  })
  return {
    ...state,
    secretPaths,
    tree: withAsked(disk.tree, facts),
    probes: new Map([...state.probes, ...mountsBelow, ...preflights]),
  }
}

/** What is asked about and is not there is known not to be there, whatever becomes of what lies beside it. */
const withAsked = (tree: Tree, facts: readonly Fact[]): Tree => {
  const nodes = new Map(tree.nodes)
  for (const fact of facts) {
    const at = fact.kind === 'path' ? canonical(tree, fact.path) : nowhere
    if (typeof at === 'string' && at !== nowhere && !nodes.has(at)) nodes.set(at, absent)
  }
  return { nodes }
}

const unitLiteral = (host: LivingHost, name: string): UnitLiteral => {
  const loaded = host.load(name)
  if (loaded === null) return { LoadState: 'not-found' }
  const { active, pid, exe } = host.unit(name)
  return {
    LoadState: 'loaded',
    ActiveState: active,
    SubState: active === 'active' ? 'running' : active === 'failed' ? 'failed' : 'dead',
    Result: active === 'failed' ? 'exit-code' : 'success',
    UnitFileState: host.isEnabled(name) ? 'enabled' : 'disabled',
    FragmentPath: loaded.fragment,
    MainPID: String(pid),
    ExecStart: `{ path=${loaded.execStart} ; argv[]=${loaded.execStart} ; ignore_errors=no ; pid=${pid} }`,
    Wants: loaded.wants.join(' '),
    InvocationID: pid === 0 ? '' : `invocation-${pid}`,
    exe,
    ...(name === agentUnit && { StartLimitBurst: '5', StartLimitIntervalUSec: '5min', starts: 0, Type: 'simple' }),
  }
}
