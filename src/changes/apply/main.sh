# shellcheck shell=sh disable=SC2154,SC2034
# main RUN OWNER TTL_S TOKEN OFFSET BOOT DEADLINE_S SCRIPT_SIZE SCRIPT_SHA256 CONTENT_SIZE CONTENT_SHA256 <script, content
# Starts the script as drover-apply.service, which a lost connection does not touch, and follows its output from byte
# OFFSET on. May be run any number of times, also at once: the apply that TOKEN names is started by one of them.
# 0 ended (its verdict is the line \036TOKEN R), 75 somebody else is at work, 74 and 91-93 not started, 94 refused,
# 96 no result, 97 not the boot that was looked at, 98 cancelled before it was started
main() {
  set -u
  umask 077
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  base=/run/drover run=/run/drover/$1 unit=drover-apply.service description="drover run $1 by $2" token=$4
  case $1 in '' | .* | *[!A-Za-z0-9._-]*) return 91 ;; esac
  new=$base/.new.$token.$$
  if ! is_started; then
    if [ "$(boot)" != "$6" ]; then
      echo 'the host has been rebooted since it was looked at' >&2
      return 97
    fi
    if [ "$5" -gt 0 ]; then
      echo 'the directory of the apply has been removed' >&2
      return 96
    fi
    # Whoever applies for longer than a lease lasts still holds the host.
    still_ours "$@" || return
    receive "$@"
    start "$?" "$@" || return
  fi
  follow "$5"
  followed=$? # not $code, which the lease has
  # Where the directory is gone this was a follower on a dead connection, and another one has heard the end.
  is_there || return "$followed"
  # The unit's own time does not count: after a success the lease lives on from here until the check.
  case $(cat "$run/result" 2>/dev/null) in *' exited 0') lease take "$1" "$2" "$3" ;; *) lease free "$1" "$2" "$3" ;; esac
  return "$followed"
}

# is_started: this very apply has been. Where another exec is just about it, that is waited for.
is_started() {
  is_there || return
  exec 8>"$base/starting"
  flock -w 90 8
  exec 8>&-
  is_there
}

is_there() {
  [ "$(cat "$run/token" 2>/dev/null)" = "$token" ]
}

# boot: which one this is. In a container the kernel's id stays, and PID 1 is another one.
boot() {
  read -r id </proc/sys/kernel/random/boot_id
  read -r stat </proc/1/stat
  # shellcheck disable=SC2086
  set -- ${stat##*) }
  shift 19
  printf '%s-%s' "$id" "$1"
}

# still_ours: nobody applies, and the lease is this run's, renewed. 75 otherwise
still_ours() {
  if is_at_work; then
    printf '%s, for %s s more at the most\n' "$owner" "$(left)" >&2
    return 75
  fi
  lease take "$1" "$2" "$3"
}

# left: seconds that the apply at work still has
left() {
  read -r up _ </proc/uptime
  read -r until <"$base/until" || until=${up%.*}
  echo $((until - ${up%.*}))
}

# follow OFFSET
follow() {
  if is_ours && main_pid; then
    tail -c "+$(($1 + 1))" -s 0.1 -f --pid="$pid" "$run/out"
  else
    tail -c "+$(($1 + 1))" "$run/out"
  fi
  # The main process is gone; the apply is over only when every process of it is.
  waited=0
  while is_ours && [ "$waited" -lt 1200 ]; do
    sleep 0.05
    waited=$((waited + 1))
  done
  if [ -s "$run/last" ]; then
    seen=$(($1 - $(wc -c <"$run/out")))
    tail -c "+$(((seen > 0 ? seen : 0) + 1))" "$run/last"
  fi
  [ -e "$run/result" ] || { echo 'the apply ended without a result' >&2; return 96; }
  printf '\036%s R %s\n' "$token" "$(cat "$run/result")"
}

main "$@"
