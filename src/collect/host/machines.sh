# shellcheck shell=sh
# machines.sh NAME...: what systemd-machined knows. Asking wakes it where it sleeps, so there nobody asks: exit 66.
main() {
  set -u
  if ! systemctl is-active --quiet systemd-machined.service; then
    echo 'systemd-machined does not run, so no machine does'
    return 66
  fi
  machinectl --no-pager list
  for machine; do
    printf '\n== %s\n' "$machine"
    machinectl --no-pager show "$machine"
  done
  return 0
}

main "$@" </dev/null
