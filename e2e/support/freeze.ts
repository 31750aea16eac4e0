// Stops an apply on its host right where one change is over and the next has not been made.
import type { LabHost } from '../lab/host.ts'
import { until } from '../lab/wait.ts'

/**
 * Runs on the host beside the apply and looks, without a pause and without starting a program, which change the apply is
 * at; at the wanted one all of its processes are stopped. On a machine that is short of time it may be a later one.
 * Applies of a run write files of the same name: what it holds open tells one from the next, since no other can be that file.
 */
const watcher = `
while read -r line; do case $line in 0::*) group=/sys/fs/cgroup\${line#0::} ;; esac; done </proc/self/cgroup
read -r up _ </proc/uptime
end=$((\${up%.*} + 200)) procs=\${group%/*}/drover-apply.service/cgroup.procs
nth=0
while [ "\${up%.*}" -lt "$end" ]; do
  [ -e "$procs" ] || sleep 0.02
  for at in /run/drover/*/at; do
    n=
    { read -r n _ <"$at"; } 2>/dev/null
    [ -n "$n" ] || continue
    [ "$at" -ef /proc/self/fd/8 ] || { command exec 8<"$at" && nth=$((nth + 1)); }
    [ "$nth" -gt "$2" ] || { [ "$nth" -eq "$2" ] && [ "$n" -ge "$1" ]; } || continue
    [ ! -e "$procs" ] || while read -r pid; do kill -STOP "$pid"; done <"$procs"
    echo "$procs" >/run/story-frozen
    exit 0
  done
  read -r up _ </proc/uptime
done
exit 1`

/** Change number `change` of the next apply, counted from 0, is not made before `thaw`; of the second apply from now with 2. */
export const freezeAt = async (host: LabHost, change: number, apply = 1): Promise<void> => {
  await host.must('rm -f /run/story-frozen; systemctl stop story-freezer.service 2>/dev/null || :')
  // In a file: systemd would replace the variables of a command line.
  await host.put('/run/story-freezer.sh', watcher)
  await host.must(
    'systemd-run --quiet --collect -p Nice=-10 --unit=story-freezer /bin/sh /run/story-freezer.sh "$1" "$2"',
    [String(change), String(apply)],
  )
}

export const untilFrozen = (host: LabHost): Promise<unknown> =>
  until(`the apply on ${host.name} to be held up`, 150_000, async () =>
    (await host.sh('[ -s /run/story-frozen ]')).code === 0 ? true : undefined,
  )

export const thaw = (host: LabHost): Promise<string> =>
  host.must(
    'procs=$(cat /run/story-frozen); [ ! -e "$procs" ] || while read -r pid; do kill -CONT "$pid"; done <"$procs"',
  )
