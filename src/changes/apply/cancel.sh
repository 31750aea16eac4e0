# shellcheck shell=sh
# main RUN GRACE_S: asks the run's apply unit to end between two changes, and stops it when it does not
main() {
  set -u
  unit=drover-apply.service
  case $(systemctl show --no-pager -p Description --value "$unit") in "drover run $1 by "*) ;; *) return 0 ;; esac
  : >"/run/drover/$1/cancel" || return 1
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
