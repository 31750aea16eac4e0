# shellcheck shell=sh
# main SECONDS: until systemd has finished starting the host, or for that long. What it still starts is on standard output.
main() {
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  read -r up _ </proc/uptime
  until=$((${up%.*} + $1))
  while :; do
    # Right after the boot it may not answer yet.
    case $(timeout 5 systemctl is-system-running 2>/dev/null) in '' | offline | unknown | initializing | starting) ;; *) return 0 ;; esac
    read -r up _ </proc/uptime
    [ "${up%.*}" -lt "$until" ] || break
    sleep 0.2
  done
  timeout 5 systemctl list-jobs --no-legend --no-pager --plain 2>/dev/null | head -n 20
  return 1
}

main "$@" </dev/null
