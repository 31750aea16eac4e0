import { AGENT_UNIT, type LabHost, WORKER_UNIT } from '../lab/host.ts'

export const TARGET = 'machines.target'
export const DROP_IN = '/etc/systemd/system/aks-flex-node-agent.service.d/50-drover-machines-target.conf'
const WORKER_DROP_INS = `/etc/systemd/system/${WORKER_UNIT}.d`
export const DAEMON_STATE = '/etc/aks-flex-node/daemon-state.json'

/** ActiveState of the three units that the reboot table of PR #437 is about. */
export const states = async (host: LabHost): Promise<{ target: string; worker: string; agent: string }> => {
  const [target = '', , worker = '', , agent = ''] = (
    await host.must('systemctl show --no-pager -p ActiveState --value -- "$@"', [TARGET, WORKER_UNIT, AGENT_UNIT])
  ).split('\n')
  return { target, worker, agent }
}

export const mainPid = async (host: LabHost, unit: string): Promise<string> => (await host.unit(unit)).MainPID

/** One property as systemd has it. */
export const property = (host: LabHost, unit: string, name: string): Promise<string> =>
  host.must('systemctl show --no-pager -p "$2" --value -- "$1"', [unit, name])

/** Replaces how the worker starts, by a drop-in that sorts after the lab's own; '' takes that away again. */
export const workerStarts = (host: LabHost, service: string): Promise<string> =>
  host.must(
    'f=$1/90-story.conf; if [ -n "$2" ]; then mkdir -p "$1" && printf "[Service]\\n%s\\n" "$2" >"$f"; else rm -f "$f"; fi; systemctl daemon-reload',
    [WORKER_DROP_INS, service],
  )

/** A further machine whose process is a sleep, stopped; enabled under machines.target or only there. */
export const addMachine = (host: LabHost, machine: string, { enabled }: { enabled: boolean }): Promise<string> =>
  host.must(
    `install -d -m 0700 "/var/lib/machines/$1" && install -d "/etc/systemd/system/systemd-nspawn@$1.service.d" &&
printf '[Service]\\nType=simple\\nWatchdogSec=0\\nExecStart=\\nExecStart=/usr/bin/sleep infinity\\n' >"/etc/systemd/system/systemd-nspawn@$1.service.d/50-lab-sleep.conf" &&
systemctl daemon-reload && { [ "$2" = no ] || systemctl enable --quiet "systemd-nspawn@$1.service"; }`,
    [machine, enabled ? 'yes' : 'no'],
  )

export const unwire = (host: LabHost): Promise<string> => host.must('rm -f "$1"; systemctl daemon-reload', [DROP_IN])

/** Is there at all: a link counts by itself. */
export const exists = async (host: LabHost, path: string): Promise<boolean> =>
  (await host.sh('[ -e "$1" ] || [ -L "$1" ]', [path])).code === 0
