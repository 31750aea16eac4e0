# shellcheck shell=sh disable=SC2154,SC2034
# main RUN OWNER LEASE_TTL_S JOURNAL_LINE: has the host reboot in a moment, when the answer is on its way
# 0 it will, 75 somebody else is at work, 94 systemd refused
main() {
  set -u
  umask 077
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  run=/run/drover/$1 unit=drover-apply.service description="drover run $1 by $2"
  lease take "$1" "$2" "$3" || return
  # The apply of another run would be cut in the middle.
  if is_at_work; then
    printf '%s\n' "$owner" >&2
    lease free "$1" "$2" "$3"
    return 75
  fi
  printf '%s\n' "$4" | systemd-cat -t drover -p notice 2>/dev/null
  # Not as a child of this shell, whose session ends first. Where logind does not answer, systemctl would wait for it
  # for most of a minute; then PID 1 is asked without it.
  systemd-run --quiet --collect --no-ask-password --unit=drover-reboot.service --description="drover run $1 by $2 reboots" \
    --on-active=1s --timer-property=AccuracySec=100ms \
    /bin/sh -c 'timeout 10 systemctl --no-block reboot || systemctl --no-block --job-mode=replace-irreversibly start reboot.target' && return 0
  lease free "$1" "$2" "$3"
  return 94
}

main "$@" </dev/null
