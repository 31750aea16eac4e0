# shellcheck shell=sh disable=SC2154,SC2034,SC2174
# main RUN OWNER TOKEN GRACE_S PACKAGE_GRACE_S: asks the apply to end between two changes, and ends it when it does
# not; one that has not been started yet never will be
main() {
  set -u
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  base=/run/drover run=/run/drover/$1 unit=drover-apply.service description="drover run $1 by $2"
  mkdir -p -m 0700 "$base" && touch "$base/starting" || return 91
  exec 8>"$base/starting"
  # A start that is under way is waited for.
  flock -w 30 8
  if [ "$(cat "$run/token" 2>/dev/null)" != "$3" ]; then
    printf '%s\n' "$3" >"$base/cancelled"
    return
  fi
  exec 8>&-
  # Where not even that can be written it is ended at once.
  touch "$run/cancel" || set -- "$1" "$2" "$3" 0 0
  waited=0
  while is_ours && [ "$waited" -lt "$(grace "$4" "$5")" ]; do
    sleep 0.2
    waited=$((waited + 1))
  done
  ! is_ours || stop
}

# grace USUAL PACKAGE: in fifths of a second. A package manager that is cut leaves a host on which nobody can install.
grace() {
  case $(cat "$run/at" 2>/dev/null) in *' package') echo $(($2 * 5)) ;; *) echo $(($1 * 5)) ;; esac
}

stop() {
  if [ ! -e "$run/supervisor" ]; then
    systemctl stop "$unit"
    return
  fi
  tries=0
  while is_ours && [ "$tries" -lt 30 ]; do
    kill -s TERM "$(cat "$run/supervisor")"
    sleep 1
    tries=$((tries + 1))
  done
  ! is_ours
}

main "$@" </dev/null
