# shellcheck shell=sh
# main RUN GRACE_S OWNER: asks the run's apply unit to end between two changes, stops it when it does not, and lets
# the host go
main() {
  set -u
  unit=drover-apply.service
  case $(systemctl show --no-pager -p Description --value "$unit") in "drover run $1 by "*) end "$@" ;; esac
  lease free "$1" "$3" 0
}

end() {
  # Where not even that can be written it is stopped at once.
  touch "/run/drover/$1/cancel" || set -- "$1" 0
  waited=0
  while systemctl is-active --quiet "$unit" && [ "$waited" -lt $(($2 * 5)) ]; do
    sleep 0.2
    waited=$((waited + 1))
  done
  systemctl stop "$unit"
  # Jobs that it had queued in systemd go on without it.
  systemctl list-jobs --no-legend --no-pager
}

main "$@" </dev/null
