#!/bin/sh
# unit-journal.sh UNIT [LINES]: the last journal lines of the unit's current or last run. By invocation id:
# in a container `journalctl -b` shows earlier boots, too.
main() {
  set -u
  export LC_ALL=C
  unit=$1
  lines=${2:-20}
  case $lines in
    '' | *[!0-9]*) lines=20 ;;
  esac
  run=$(timeout 10 systemctl show --property=InvocationID --value -- "$unit" 2>/dev/null) || return 0
  [ -n "$run" ] || return 0
  timeout 10 journalctl -q --no-pager -o cat -n "$lines" "_SYSTEMD_INVOCATION_ID=$run" + "INVOCATION_ID=$run" 2>/dev/null
}
main "$@" </dev/null
