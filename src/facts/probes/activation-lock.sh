#!/bin/sh
# activation-lock.sh LOCK: whether somebody holds the agent's activation lock, and who that is. Read off the kernel's
# list: taking the lock to find out, were it for a moment, would refuse an agent that asks for it just then.
main() {
  set -u
  if [ ! -e "$1" ]; then
    echo 'lock=free'
    return 0
  fi
  # Device and inode, as the list has them.
  id=$(stat -Lc '%d %i' -- "$1") || return 0
  device=${id% *}
  id=$(printf '%02x:%02x:%s' $((device / 256 % 4096)) $((device % 256 + (device >> 20) * 256)) "${id#* }")
  while read -r _ kind _ _ pid place _; do
    case $kind:$place in
      FLOCK:"$id")
        echo 'lock=held'
        name=
        [ ! -r "/proc/$pid/comm" ] || read -r name <"/proc/$pid/comm"
        unit=$(grep -o '[^/]*\.service' "/proc/$pid/cgroup" 2>/dev/null | tail -n 1)
        printf 'holder=%s %s %s\n' "$pid" "${name:-?}" "${unit:--}"
        return 0
        ;;
    esac
  done </proc/locks
  echo 'lock=free'
}
main "$@" </dev/null
