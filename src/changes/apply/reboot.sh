# shellcheck shell=sh
# main RUN OWNER LEASE_TTL_S JOURNAL_LINE: has the host reboot in a moment, when the answer is on its way
# 0 it will, 75 somebody else is at work, 94 systemd refused
main() {
  set -u
  umask 077
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  # The apply of another run would be cut in the middle.
  if [ -e /run/systemd/transient/drover-apply.service ] && systemctl is-active --quiet drover-apply.service; then
    systemctl show --no-pager -p Description --value drover-apply.service >&2
    return 75
  fi
  lease take "$1" "$2" "$3" || return
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
