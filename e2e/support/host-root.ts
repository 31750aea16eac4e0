// The host root as it lies on a host, looked at without drover.
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { until } from '../lab/wait.ts'

export const ROOT = '/opt/unbounded/agent'
export const LEGACY = '/usr/local'

export interface RootState {
  /** ROOT by lstat: `absent`, `directory`, `other`, or `-> TEXT` with a link's text. */
  readonly root: string
  readonly moving: boolean
  readonly staging: boolean
  /** The files of the layout under each root, without the root. A root that is a link has none of its own. */
  readonly underRoot: readonly string[]
  readonly underLegacy: readonly string[]
  /** Which of the two roots hold an installation that is whole: domain.md 6.7 wants one at every moment. */
  readonly whole: readonly string[]
  readonly active: string
  /** What MainPID runs; empty without a process. */
  readonly exe: string
  readonly execStart: string
  readonly recovery: string
  /** Every helper that a hook unit names, each once. */
  readonly helpers: readonly string[]
  /** How many agents are recorded as knowing the host root; none without the file. */
  readonly recorded: number
}

const look = `
R=/opt/unbounded/agent L=/usr/local u=/etc/systemd/system
if [ -L $R ]; then root="-> $(readlink $R)"; elif [ -d $R ]; then root=directory; elif [ -e $R ]; then root=other; else root=absent; fi
yes() { if [ -e "$1" ] || [ -L "$1" ]; then echo yes; fi; }
lib=lib/aks-flex-node/aks-flex-node
files() {
  for f in bin/aks-flex-node $lib-blue $lib-green $lib-current $lib-last-good $lib-recovery.sh bin/unbounded-agent-nspawn-lifecycle \\
    libexec/unbounded-localdns-network; do [ -z "$(yes "$1/$f")" ] || printf '%s ' "$f"; done
}
runs() { case $(readlink -f "$1") in "$2"/*) timeout 5 "$1" version >/dev/null 2>&1 ;; *) false ;; esac; }
whole() {
  if runs $1/$lib-current $1 && runs $1/$lib-last-good $1 && runs $1/bin/aks-flex-node $1 && [ -x $1/$lib-recovery.sh ] &&
    [ -x $1/bin/unbounded-agent-nspawn-lifecycle ]; then printf '%s ' $1; fi
}
start() { sed -n 's/^ExecStart=\\([^ ]*\\).*/\\1/p' "$1" 2>/dev/null; }
pid=$(systemctl show -p MainPID --value "$1")
[ -L $R ] || { mine=$(files $R); new=$(whole $R); }
printf '%s\\n' "root=$root" "moving=$(yes $R/.moving)" "staging=$(yes $R.staging)" "underRoot=$mine" "underLegacy=$(files $L)" \\
  "whole=$new$(whole $L)" "active=$(systemctl show -p ActiveState --value "$1")" "exe=$(readlink "/proc/$pid/exe")" \\
  "execStart=$(start $u/$1)" "recovery=$(start $u/aks-flex-node-agent-recovery.service)" \\
  "helpers=$(grep -hos '[^ =]*/unbounded-agent-nspawn-lifecycle' $u/systemd-nspawn@kube?.service.d/override.conf \\
    $u/unbounded-agent-regenerate-config@kube?.service | sort -u | tr '\\n' ' ')" \\
  "recorded=$(grep -c . /etc/aks-flex-node/host-root-agents 2>/dev/null || :)"
`

export const rootState = async (host: LabHost): Promise<RootState> => {
  const lines = (await host.must(look, [AGENT_UNIT])).split('\n')
  const seen = new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  const text = (key: string): string => seen.get(key) ?? ''
  const list = (key: string): string[] => text(key).split(' ').filter(Boolean)
  return {
    root: text('root'),
    moving: text('moving') !== '',
    staging: text('staging') !== '',
    underRoot: list('underRoot'),
    underLegacy: list('underLegacy'),
    whole: list('whole'),
    active: text('active'),
    exe: text('exe'),
    execStart: text('execStart'),
    recovery: text('recovery'),
    helpers: list('helpers'),
    recorded: Number(text('recorded')),
  }
}

/** What is wrong with what the agent's unit names: empty where that is a whole installation, recovery and hooks included. */
export const wholeInstallation = async (host: LabHost): Promise<string[]> => faultsOfRoot(await rootState(host))

const faultsOfRoot = (seen: RootState): string[] => {
  const named = [ROOT, LEGACY].find((root) => seen.execStart.startsWith(`${root}/`))
  if (named === undefined) return [`the unit runs ${seen.execStart || 'nothing'}`]
  // Through the link a path below ROOT is one below /usr/local.
  const really = seen.root === `-> ${LEGACY}` ? LEGACY : named
  return [
    ...(seen.whole.includes(really) ? [] : [`the unit runs ${seen.execStart}, and ${really} is no whole installation`]),
    ...[seen.recovery, ...seen.helpers].flatMap((path) => {
      const lies = seen.root === `-> ${LEGACY}` ? path.replace(ROOT, LEGACY) : path
      return seen.whole.some((root) => lies.startsWith(`${root}/`)) ? [] : [`a unit names ${path || 'no recovery'}`]
    }),
  ]
}

/** What of a finished move is missing (11.28, 11.29): empty is MOVED. */
export const faultsOfMoved = (seen: RootState): string[] => {
  const elsewhere = [seen.exe, seen.execStart, seen.recovery, ...seen.helpers].filter((p) => !p.startsWith(`${ROOT}/`))
  return [
    ...(seen.root === 'directory' ? [] : [`ROOT is ${seen.root}`]),
    ...(seen.moving ? ['.moving is there'] : []),
    ...(seen.staging ? ['.staging is there'] : []),
    ...seen.underLegacy.map((file) => `${LEGACY}/${file} is there`),
    ...(seen.recorded === 0 ? [] : ['host-root-agents is there']),
    ...(seen.active === 'active' ? [] : [`the unit is ${seen.active}`]),
    ...elsewhere.map((path) => `${path || 'nothing'} is named`),
    ...faultsOfRoot(seen),
  ]
}

export const untilMoved = (host: LabHost, timeoutMs: number): Promise<RootState> =>
  until(`${host.name} to be moved`, timeoutMs, async () => {
    const seen = await rootState(host)
    const faults = faultsOfMoved(seen)
    if (faults.length > 0) throw new Error(faults.join('; '))
    return seen
  })
