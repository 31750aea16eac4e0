#!/bin/sh
# network-left.sh: what of the network an agent's reset would take or leave: the table and interface of LocalDNS, other
# interfaces with names of its kind, policy rules, and by which interface whoever asks came in. Read only.
main() {
  set -u
  export LC_ALL=C
  # First, and the end is marked: a cut answer must not read as a host without interfaces.
  interfaces || return
  table
  if command -v ip >/dev/null 2>&1; then
    came_in
    rules
  fi
  echo 'whole=yes'
}

table() {
  if ! command -v nft >/dev/null 2>&1; then
    echo 'table=no-nft'
  elif tables=$(timeout -k 2 10 nft list tables ip 2>/dev/null); then
    if printf '%s\n' "$tables" | grep -qx 'table ip unbounded_localdns'; then echo 'table=present'; else echo 'table=absent'; fi
  else
    echo 'table=unknown'
  fi
}

interfaces() {
  [ -d /sys/class/net ] || return
  for name in /sys/class/net/*; do
    name=${name##*/}
    case $name in
      wg* | geneve0 | vxlan0 | ipip0 | unbounded0 | cbr0 | localdns) printf 'interface=%s\n' "$name" ;;
    esac
  done
  return 0
}

# came_in: the interface that has the address we were reached at, and the one by which answers leave
came_in() {
  connection=${SSH_CONNECTION:-}
  # sudo drops the variable; whoever called it still has it.
  pid=$PPID steps=0
  while [ -z "$connection" ] && [ "$pid" -gt 1 ] && [ "$steps" -lt 16 ]; do
    connection=$({ tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^SSH_CONNECTION=//p' | head -n 1; } 2>/dev/null)
    pid=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status" 2>/dev/null)
    pid=${pid:-0} steps=$((steps + 1))
  done
  set -f
  # shellcheck disable=SC2086
  set -- $connection
  set +f
  [ $# -eq 4 ] || return 0
  {
    timeout 5 ip -o addr show to "${3%%\%*}" | sed -n 's/^[0-9]*: *\([^ ]*\) .*/\1/p'
    timeout 5 ip -o route get "${1%%\%*}" | sed -n 's/.* dev \([^ ]*\).*/\1/p'
  } 2>/dev/null | sort -u | sed -n 's/^./ssh=&/p'
}

# rules: other than the three that every host has
rules() {
  { timeout 5 ip rule show; timeout 5 ip -6 rule show; } 2>/dev/null | tr '\t' ' ' |
    grep -Ev '^(0|32766|32767):' | head -n 20 | sed -n 's/^./rule=&/p'
}

main "$@" </dev/null
