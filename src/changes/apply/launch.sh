# shellcheck shell=sh disable=SC2154
# Handing the work to systemd, or where that does not take it to a process group.

# launch DEADLINE_S. 75, 94
launch() {
  if [ ! -d /run/systemd/system ]; then
    launch_group "$1" 'the host was not booted with systemd'
  elif ! command -v systemd-run >/dev/null; then
    launch_group "$1" 'the host has no systemd-run'
  else
    launch_unit "$1" 2>"$run/refused" || started || {
      refused=$(tr '\n' ' ' <"$run/refused")
      case $refused in
        *'already loaded'*)
          property Description
          printf '%s\n' "$value" >&2
          return 75
          ;;
      esac
      launch_group "$1" "systemd would not: $refused"
    }
  fi
}

# launch_unit DEADLINE_S. Never --wait or --pipe: output to a dead connection would kill the script.
launch_unit() {
  timeout 60 systemd-run --quiet --collect --no-ask-password --unit="$unit" --description="$description" \
    -p Type=exec -p KillMode=control-group -p TimeoutStopSec=10s -p RuntimeMaxSec="$1" -p LogLevelMax=notice \
    -p UMask=0022 -p StandardInput=null -p StandardOutput="append:$run/out" -p StandardError="append:$run/out" \
    -p ExecStopPost="/bin/sh $run/script end $run" --setenv=LC_ALL=C --setenv=HOME=/root --setenv=DROVER_APPLY="$run" \
    --setenv=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /bin/sh "$run/script" work "$run"
}

# A script that ends at once can make systemd-run 252 fail although the unit ran: look before believing it.
started() {
  [ -e "$run/result" ] || [ -e "$run/begun" ] || is_ours
}

# launch_group DEADLINE_S WHY
launch_group() {
  for needed in setsid flock timeout; do
    command -v "$needed" >/dev/null || { printf '%s, and there is no %s\n' "$2" "$needed" >&2; return 94; }
  done
  printf '\036%s G %s\n' "$token" "$(printf '%s' "$2" | head -c 1000 | base64 -w0)" >>"$run/out" || return 91
  touch "$run/supervised" "$base/group" || return 91
  # Its own session, and none of our descriptors: it outlives this shell and holds nothing of it.
  setsid /bin/sh "$run/script" supervise "$run" "$1" "$description" <"/dev/null" >>"$run/out" 2>&1 7>&- 8>&- 9>&- &
  waited=0
  until [ -s "$run/supervisor" ] || [ "$waited" -ge 100 ]; do
    sleep 0.05
    waited=$((waited + 1))
  done
  [ -s "$run/supervisor" ] || { printf '%s, and a process group could not be started\n' "$2" >&2; return 94; }
}
