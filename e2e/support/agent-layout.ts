// What an agent's installation looks like from outside: all that domain.md 7.8 asks for, in one look.
import { AGENT_UNIT, type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { until } from '../lab/wait.ts'

export interface AgentLayout {
  /** The lowest directory of the installation, links resolved. */
  readonly root: string
  readonly active: string
  readonly pid: string
  /** What MainPID runs. */
  readonly exe: string
  /** Where the links lead: `blue` or `green`; anything but an absolute link into the layout is shown as it is. */
  readonly current: string
  readonly lastGood: string
  /** Versions, as the binaries say. */
  readonly version: string
  readonly lastGoodVersion: string
  /** Where `bin/aks-flex-node` leads in the end. */
  readonly bin: string
  readonly execStart: string
  /** `same` as current's, or another, or `none`. */
  readonly inWorker: string
  readonly worker: string
}

const look = `
root=/usr/local
if [ -d /opt/unbounded/agent ] && [ ! -L /opt/unbounded/agent ]; then root=/opt/unbounded/agent; fi
lib=$root/lib/aks-flex-node/aks-flex-node
slot() {
  target=$(readlink -- "$1") || { echo 'no link'; return; }
  case $target in
    "$lib"-blue | "$lib"-green) if [ -x "$target" ]; then echo "\${target##*-}"; else echo "dangling: $target"; fi ;;
    *) echo "elsewhere: $target" ;;
  esac
}
version() { timeout 5 "$1" version 2>/dev/null | sed -n 's/^Version: //p'; }
pid=$(systemctl show -p MainPID --value "$1")
inside=/var/lib/machines/kube1/usr/local/bin/aks-flex-node
if [ ! -e "$inside" ]; then worker=none; elif cmp -s "$inside" "$lib-current"; then worker=same; else worker=other; fi
printf '%s\\n' "root=$root" "active=$(systemctl show -p ActiveState --value "$1")" "pid=$pid" "exe=$(readlink "/proc/$pid/exe")" \\
  "current=$(slot "$lib-current")" "lastGood=$(slot "$lib-last-good")" "version=$(version "$lib-current")" \\
  "lastGoodVersion=$(version "$lib-last-good")" "bin=$(readlink -f "$root/bin/aks-flex-node")" \\
  "execStart=$(sed -n 's/^ExecStart=\\([^ ]*\\).*/\\1/p' "/etc/systemd/system/$1")" "inWorker=$worker" \\
  "worker=$(systemctl show -p MainPID --value "$2")"
`

export const layoutOf = async (host: LabHost): Promise<AgentLayout> => {
  const lines = (await host.must(look, [AGENT_UNIT, WORKER_UNIT])).split('\n')
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  ) as unknown as AgentLayout
}

/** What of the layout is wrong for an agent that runs: empty is a whole one (domain.md 7.1, 7.8). */
export const faultsOf = (seen: AgentLayout): string[] => {
  const lib = `${seen.root}/lib/aks-flex-node/aks-flex-node`
  const rows: [string, string, string][] = [
    ['the unit', seen.active, 'active'],
    ['MainPID runs', seen.exe, `${lib}-${seen.current}`],
    ['bin/aks-flex-node is', seen.bin, `${lib}-${seen.current}`],
    ['ExecStart', seen.execStart, `${lib}-current`],
    ['the worker carries a binary', seen.inWorker, 'same'],
  ]
  const links = [seen.current, seen.lastGood].filter((slot) => slot !== 'blue' && slot !== 'green')
  return [
    ...links.map((slot) => `a link is ${slot}`),
    ...rows.flatMap(([what, is, wanted]) => (is === wanted ? [] : [`${what} ${is}, not ${wanted}`])),
  ]
}

/** What drover leaves of a switch while that is not over. The agent's lock file is the agent's. */
export const traces = (host: LabHost): Promise<string> =>
  host.must(`
    find /etc /opt /run /srv /tmp /usr/local /var -xdev \\( -name '.drover*' -o -name 'drover-rollback*' -o -name 'drover-guard*' \\
      -o -name 'drover-apply*' -o -path '/run/drover*' -o -path '/var/lib/drover*' \\) -print
    systemctl list-units --all --no-legend --plain 'drover-*' | cut -d' ' -f1`)

/** Phase of an armed rollback on the host: `armed`, `undoing`, or nothing. */
export const armedOn = (host: LabHost): Promise<string> =>
  host.must('for p in armed undoing; do [ ! -d "/var/lib/drover/$p" ] || echo "$p"; done')

/** What still goes on there without anybody: an apply may be about to arm, and a guard to hold its lock. */
const goesOn = (host: LabHost): Promise<string> =>
  host.must('cd /run/systemd/transient 2>/dev/null && ls | grep "^drover-" || :')

/** Wait until the host has ended what it does by itself: nothing is armed, and a whole agent runs. */
export const untilSettled = (host: LabHost, timeoutMs: number): Promise<AgentLayout> =>
  until(`a whole agent on ${host.name}, and nothing armed`, timeoutMs, async () => {
    const busy = [await goesOn(host), await armedOn(host)].filter((words) => words !== '')
    if (busy.length > 0) throw new Error(`still ${busy.join(', ')}`)
    const seen = await layoutOf(host)
    const faults = faultsOf(seen)
    if (faults.length > 0) throw new Error(faults.join('; '))
    return seen
  })

/** Lines of the agent's journal since this boot's `since` (a unix time). */
export const agentJournal = (host: LabHost, since: string): Promise<string> =>
  host.must('journalctl -q -o cat --no-pager -u "$1" --since "@$2"', [AGENT_UNIT, since])

export const now = (host: LabHost): Promise<string> => host.must('date +%s')

/** Shorter limits of starts: the real window is five minutes. */
export const startLimit = (host: LabHost, intervalS: number, burst = 5): Promise<string> =>
  host.must(
    'd=/etc/systemd/system/$1.d; mkdir -p "$d"; printf "[Unit]\\nStartLimitIntervalSec=%s\\nStartLimitBurst=%s\\n" "$2" "$3" >"$d/90-story-limit.conf"; systemctl daemon-reload',
    [AGENT_UNIT, String(intervalS), String(burst)],
  )
