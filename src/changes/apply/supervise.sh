# shellcheck shell=sh disable=SC2154,SC2034
# Around the work: what is done when it ends, and what systemd would do for it where it does not.

# end DIRECTORY: by systemd, whatever the end was
end() {
  # A unit that systemd started after it had refused to: the apply is a process group's.
  [ ! -e "$1/supervised" ] || return 0
  verdict="${SERVICE_RESULT:-?} ${EXIT_CODE:-?} ${EXIT_STATUS:-?}"
  conclude "$1" "$verdict"
  [ "$verdict" = 'success exited 0' ] || let_guard_go "${1##*/}"
}

# let_guard_go RUN: where that run failed before it had armed anything, it holds the agent's lock for nobody, and there may be
# no run any more to say so
let_guard_go() {
  [ -e /run/systemd/transient/drover-guard.service ] || return 0
  # In this order: firing renames the one to the other.
  [ ! -d /var/lib/drover/armed ] && [ ! -d /var/lib/drover/undoing ] || return 0
  # More time than this does not belong to what comes after an apply.
  case $(timeout 3 systemctl show --no-pager -p Description --value drover-guard.service) in
    "drover run $1 by "*) timeout 5 systemctl stop drover-guard.service 2>/dev/null ;;
  esac
}

# conclude DIRECTORY VERDICT
conclude() {
  dir=$1
  # The content may be secret, and nobody needs it any more.
  rm -f -- "$1/content" "$1/script"
  # Ended in the middle of a command: these are its last words. In a file of their own, since the output was followed
  # only as long as there was a main process.
  if [ -s "$1/speaking" ]; then tell "$(cat "$1/speaking")" >"$1/last"; fi
  rm -f -- "$1/speaking" "$1"/words.*
  printf '%s\n' "$2" >"$1/.result" && mv -f -- "$1/.result" "$1/result"
}

# supervise DIRECTORY DEADLINE_S DESCRIPTION: the work as a process group. TERM ends it.
supervise() {
  umask 077
  export LC_ALL=C HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  cd /
  exec 8>>/run/drover/group
  flock -n 8 || return
  printf '%s\n' "$3" >/run/drover/group
  stopped=
  trap 'stopped=yes' TERM
  trap '' HUP INT
  # The mark is how the processes of this apply are known again, wherever they go.
  (
    umask 022
    exec env DROVER_APPLY="$1" timeout -s TERM -k 10 "$2" /bin/sh "$1/script" work "$1" 8>&-
  ) &
  printf '%s\n' "$$" >"$1/.supervisor" && mv -f -- "$1/.supervisor" "$1/supervisor"
  wait "$!"
  code=$?
  end_all "$1"
  case $stopped:$code in
    yes:*) verdict='success killed TERM' ;;
    :124) verdict='timeout killed TERM' ;;
    :137) verdict='signal killed KILL' ;;
    :0) verdict='success exited 0' ;;
    *) verdict="exit-code exited $code" ;;
  esac
  conclude "$1" "$verdict"
  rm -f /run/drover/group
}

# end_all DIRECTORY: all that the apply has started: TERM, and KILL after ten seconds
end_all() {
  tries=0
  while pids=$(marked "$1") && [ -n "$pids" ] && [ "$tries" -lt 150 ]; do
    # shellcheck disable=SC2086
    case $tries in
      0) kill -s TERM $pids ;;
      1??) kill -s KILL $pids ;;
    esac 2>/dev/null
    sleep 0.1
    tries=$((tries + 1))
  done
}
