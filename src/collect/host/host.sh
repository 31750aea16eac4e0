# shellcheck shell=sh
# host.sh: what machine and boot this is, and what systemd says of the whole
main() {
  set -u
  say uname -a
  say uptime
  say date -u +%Y-%m-%dT%H:%M:%SZ
  say cat /proc/sys/kernel/random/boot_id
  say cat /proc/loadavg
  say systemctl --version
  say systemctl show --no-pager -p Version,Virtualization,SystemState,NFailedUnits,NJobs
  say systemctl list-units --no-pager --plain --failed
  say systemctl list-jobs --no-pager
}

say() {
  printf '== %s\n' "$*"
  timeout 5 "$@" 2>&1 || printf '(exit code %s)\n' "$?"
}

main "$@" </dev/null
