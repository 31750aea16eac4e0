# shellcheck shell=sh disable=SC2154,SC2034
# main RUN OWNER TTL_S: lets the host go where a run ends without a last check, and says what goes on there without it
main() {
  set -u
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  run=/run/drover/$1 unit=drover-apply.service description="drover run $1 by $2"
  if is_ours; then
    echo 'the apply itself: systemctl status drover-apply.service'
    return
  fi
  # What a killed `systemctl start` had queued goes on in PID 1, and who has left the unit is not ended with it.
  timeout 10 systemctl list-jobs --no-legend --no-pager 2>/dev/null | sed 's/^ */systemd job /'
  for pid in $(marked "$run"); do
    printf 'process %s: %s\n' "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | head -c 200)"
  done
  rm -f /run/drover/cancelled
  let_lock_go
  let_go "$@"
}

# let_lock_go: a guard that this run left between taking the lock and arming a rollback holds it for nobody
let_lock_go() {
  [ -e /run/systemd/transient/drover-guard.service ] || return 0
  [ ! -d /var/lib/drover/armed ] && [ ! -d /var/lib/drover/undoing ] || return 0
  [ "$(systemctl show --no-pager -p Description --value drover-guard.service)" = "$description" ] || return 0
  timeout 30 systemctl stop drover-guard.service 2>/dev/null
}

main "$@" </dev/null
